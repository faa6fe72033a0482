-- Everything that the other phases made in the database, but for the driver's user.
-- name: drop tables
DROP TABLE IF EXISTS ds2_info, ds2_steps, messages;
