-- When commits of the database may return before their log is on the drive: DISABLED, ALLOWED, FORCED.
SELECT delayed_durability_desc FROM sys.databases WHERE name = DB_NAME()
