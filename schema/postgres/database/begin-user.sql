-- Prepares the session of a user. The server keeps the connection of one who thinks, or waits for its turn. It plans each call once
-- a session: left to itself it plans DVD Store 2's search for words again each time, as the words might matter, which took a fifth
-- of all CPU time per order; where plan_cache_mode is set, be it for the server, the database, the role or in the target's URL, it
-- stays as it is.
SELECT set_config(name, CASE name WHEN 'plan_cache_mode' THEN 'force_generic_plan' ELSE '0' END, false) FROM pg_settings
WHERE name = 'plan_cache_mode' AND source = 'default' OR name = 'idle_session_timeout'
