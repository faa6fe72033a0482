-- parameters: @p1 nvarchar(128)
-- How many logins have the name @p1, on Azure SQL Database, which has no SUSER_ID.
SELECT COUNT(*) FROM sys.sql_logins WHERE name = @p1