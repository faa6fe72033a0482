-- parameters: @p1 nvarchar(128)
-- How many logins have the name @p1.
SELECT CASE WHEN SUSER_ID(@p1) IS NULL THEN 0 ELSE 1 END