-- Lets the statements of the session take as long as they take, has the server refuse where policies hide rows, and quotes names
-- as a load has them quoted.
SELECT set_config('row_security', 'off', false), set_config('quote_all_identifiers', 'off', false),
	count(set_config(name, '0', false)) FROM pg_settings
WHERE name IN ('statement_timeout', 'lock_timeout', 'transaction_timeout', 'idle_session_timeout',
	'idle_in_transaction_session_timeout')
