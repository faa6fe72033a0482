-- The line that each error log begins with, where it is in English.
EXEC sys.sp_readerrorlog 0, 1, N'Server process ID is'
