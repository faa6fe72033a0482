-- parameters: @p1 nvarchar(128)
-- What backups of the database @p1 say of where they come from; its family is NULL where it is not there, not open, or this
-- login may not see it.
SELECT @@SERVERNAME AS ServerName,
	(SELECT family_guid FROM sys.database_recovery_status WHERE database_id = DB_ID(@p1)) AS FamilyGUID
