-- Whether there is a database $1.
SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)
