-- The server's clock.
SELECT extract(epoch FROM clock_timestamp())::float8
