-- Notes a step $1 of a load as done, and the rows $2 that it copied.
INSERT INTO ds2_steps (name, copied) VALUES ($1, $2)
