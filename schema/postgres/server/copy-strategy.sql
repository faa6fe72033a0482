-- What CREATE DATABASE is to be told so that files are copied as a whole: versions from 15 on copy by other means unless told,
-- and those from 18 on may be set to share blocks.
SELECT CASE WHEN current_setting('server_version_num')::integer >= 150000 THEN ' STRATEGY file_copy' ELSE '' END,
	(SELECT set_config(name, 'copy', false) FROM pg_settings WHERE name = 'file_copy_method')
