-- Lets the statements of the session take as long as they take, has the server refuse where policies hide rows, and quotes names
-- as a load has them quoted. A server from 14 on, on Linux, looks every two seconds whether its client has gone: an index of a
-- killed load would be built to its end, and the load that continues would wait for it.
SELECT set_config('row_security', 'off', false), set_config('quote_all_identifiers', 'off', false),
	count(set_config(name, CASE name WHEN 'client_connection_check_interval' THEN '2s' ELSE '0' END, false)) FROM pg_settings
WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_session_timeout',
	'idle_in_transaction_session_timeout')
	OR name = 'client_connection_check_interval' AND version() LIKE '%linux%'
