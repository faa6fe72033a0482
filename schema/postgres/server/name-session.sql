-- Gives the session a name, which every role may read.
SELECT set_config($$application_name$$, $1, false)
