-- parameters: @p1 nvarchar(10)
-- How many filegroups have the name @p1.
SELECT COUNT(*) FROM sys.filegroups WHERE name = @p1
