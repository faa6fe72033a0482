-- Checksum failures of this database, and of what all databases share; NULL: pages carry no checksums.
SELECT sum(checksum_failures)::bigint FROM pg_stat_database WHERE datid = 0 OR datname = current_database()
