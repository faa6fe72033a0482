-- The major version, and what the server says of itself.
SELECT CAST(SERVERPROPERTY('ProductMajorVersion') AS int), @@VERSION
