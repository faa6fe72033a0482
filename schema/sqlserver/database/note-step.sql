-- parameters: @p1 varchar(8000), @p2 bigint
-- Notes a step @p1 of a load as done, and the rows @p2 that it copied.
INSERT INTO ds2_steps (name, copied) VALUES (@p1, @p2)
