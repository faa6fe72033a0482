-- parameters: @p1 datetime
-- Pages that were found damaged since @p1; all who may enter msdb may read of them.
SELECT CONCAT('damaged page ', file_id, ':', page_id, ', event ', event_type,
	' of msdb.dbo.suspect_pages')
FROM msdb.dbo.suspect_pages
WHERE database_id = DB_ID() AND event_type IN (1, 2, 3) AND last_update_date > @p1
