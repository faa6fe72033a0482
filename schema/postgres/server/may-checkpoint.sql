-- Whether the user may make a checkpoint.
SELECT rolsuper OR EXISTS (
	SELECT FROM pg_roles p WHERE p.rolname = 'pg_checkpoint' AND pg_has_role(current_user, p.oid, 'USAGE'))
FROM pg_roles WHERE rolname = current_user
