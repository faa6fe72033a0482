-- Reads every page of the database, verifies its checksum and checks what it says. Each fault is a row.
DBCC CHECKDB (0) WITH ALL_ERRORMSGS, NO_INFOMSGS, TABLERESULTS
