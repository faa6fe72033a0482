-- The server's clock.
SELECT CAST(DATEDIFF_BIG(microsecond, '1970-01-01', SYSUTCDATETIME()) AS float) / 1000000
