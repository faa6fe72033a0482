-- parameters: @p1 nvarchar(128)
-- What ALTER DATABASE sets for the database @p1 and a restore brings back as it was at the backup, and who owns it.
SELECT *, SUSER_SNAME(owner_sid) AS owner FROM sys.databases WHERE name = @p1
