-- parameters: @p1 datetime, @p2 int
-- What an error log, number @p2, has after @p1 of failed, slow or misaligned I/Os, in pieces of its lines: reads and writes of pages,
-- a write of the log, what the server then gives up, and what it takes for damage.
SET NOCOUNT ON;
CREATE TABLE #lines (at datetime, process nvarchar(100), said nvarchar(max));
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'Error: 823,';
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'Error: 824,';
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'Error: 825,';
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'Error: 832,';
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'I/O requests taking longer than';
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'LogWriter: Operating system error';
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'Error: 9001,';
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'Error: 605,';
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'Error: 3314,';
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'Error: 3624,';
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'Error: 5242,';
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'Error: 9100,';
INSERT INTO #lines EXEC sys.sp_readerrorlog @p2, 1, N'misaligned log IOs';
SELECT COALESCE(said, '') FROM #lines WHERE at > @p1
