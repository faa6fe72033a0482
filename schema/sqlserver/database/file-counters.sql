-- What the server counted of each file of the database. On Windows and in Azure it is all there is of the drives. What the Resource
-- Governor, or Azure, held back is not the drives' time.
SELECT COALESCE(f.name, CAST(s.file_id AS varchar(20))), CASE f.type WHEN 1 THEN 'log' ELSE 'data' END, s.num_of_reads, s.num_of_writes, s.num_of_bytes_read, s.num_of_bytes_written,
    (s.io_stall_read_ms - s.io_stall_queued_read_ms) / 1000.0, (s.io_stall_write_ms - s.io_stall_queued_write_ms) / 1000.0
FROM sys.dm_io_virtual_file_stats(DB_ID(), NULL) AS s
LEFT JOIN sys.database_files AS f ON f.file_id = s.file_id
ORDER BY s.file_id
