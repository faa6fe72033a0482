-- parameters: @p1 nvarchar(128)
-- How the database @p1 stands, as master knows it; no row: it is not there.
SELECT state_desc, COALESCE(HAS_DBACCESS(name), 0),
	COALESCE(CAST(DATABASEPROPERTYEX(name, 'Collation') AS varchar(128)), '')
FROM sys.databases WHERE name = @p1
