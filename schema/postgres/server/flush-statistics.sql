-- Has the server count at once what the session did, which versions before 15 cannot.
DO $$ BEGIN IF current_setting('server_version_num')::int >= 150000
THEN PERFORM pg_stat_force_next_flush(); END IF; END $$
