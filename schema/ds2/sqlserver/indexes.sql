{{/* An index build sorts in tempdb where the server takes options of indexes. */}}
{{- define "sort"}}{{if not .Layout.Lacks.Statistics}} WITH (SORT_IN_TEMPDB = ON){{end}}{{end -}}
-- Secondary indexes, as DS2 has them; (USERNAME, PASSWORD) is the only one on the user name. The table's own statements are
-- in one step with those of others, so that they are built concurrently, one of each table at a time: two builds on one table
-- read the same pages and wait for each other's locks on the catalog. Sorts go to tempdb, which leaves the filegroups' files
-- without holes.
-- name: create index IX_CUST_USERNAME_PASSWORD; table: customers; progress: scan
CREATE UNIQUE INDEX IX_CUST_USERNAME_PASSWORD ON CUSTOMERS (USERNAME, PASSWORD){{template "sort" .}}{{on . "DS_IND_FG"}};
GO
-- name: create index IX_CUST_HIST_CUSTOMERID; table: cust_hist; progress: scan
CREATE INDEX IX_CUST_HIST_CUSTOMERID ON CUST_HIST (CUSTOMERID){{template "sort" .}}{{on . "DS_IND_FG"}};
GO
-- name: create index IX_CUST_HIST_CUSTOMERID_PRODID; table: cust_hist; progress: scan
CREATE INDEX IX_CUST_HIST_CUSTOMERID_PRODID ON CUST_HIST (CUSTOMERID, PROD_ID){{template "sort" .}}{{on . "DS_IND_FG"}};
GO
-- name: create index IX_ORDER_CUSTID; table: orders; progress: scan
CREATE INDEX IX_ORDER_CUSTID ON ORDERS (CUSTOMERID){{template "sort" .}}{{on . "DS_IND_FG"}};
GO
-- name: create index IX_PROD_PRODID; table: products; progress: scan
CREATE INDEX IX_PROD_PRODID ON PRODUCTS (PROD_ID) INCLUDE (TITLE){{template "sort" .}}{{on . "DS_IND_FG"}};
GO
-- name: create index IX_PROD_PRODID_COMMON_PRODID; table: products; progress: scan
CREATE INDEX IX_PROD_PRODID_COMMON_PRODID ON PRODUCTS (PROD_ID, COMMON_PROD_ID) INCLUDE (TITLE, ACTOR){{template "sort" .}}{{on . "DS_IND_FG"}};
GO
-- name: create index IX_PROD_SPECIAL_CATEGORY_PRODID; table: products; progress: scan
CREATE INDEX IX_PROD_SPECIAL_CATEGORY_PRODID ON PRODUCTS (SPECIAL, CATEGORY, PROD_ID)
    INCLUDE (TITLE, ACTOR, PRICE, COMMON_PROD_ID){{template "sort" .}}{{on . "DS_IND_FG"}};
GO
-- name: create index IX_PROD_CATEGORY; table: products; progress: scan
CREATE INDEX IX_PROD_CATEGORY ON PRODUCTS (CATEGORY){{template "sort" .}}{{on . "DS_IND_FG"}};
GO
-- name: create index IX_PROD_SPECIAL; table: products; progress: scan
CREATE INDEX IX_PROD_SPECIAL ON PRODUCTS (SPECIAL){{template "sort" .}}{{on . "DS_IND_FG"}};
GO
-- step: foreign keys, one after the other because each locks both of its tables.
-- name: add foreign key FK_CUST_HIST_CUSTOMERID; table: cust_hist; progress: scan
ALTER TABLE CUST_HIST ADD CONSTRAINT FK_CUST_HIST_CUSTOMERID
    FOREIGN KEY (CUSTOMERID) REFERENCES CUSTOMERS (CUSTOMERID) ON DELETE CASCADE;
GO
-- step: the next. DS2 has none from ORDERS to CUSTOMERS here.
-- name: add foreign key FK_ORDERID; table: orderlines; progress: scan
ALTER TABLE ORDERLINES ADD CONSTRAINT FK_ORDERID
    FOREIGN KEY (ORDERID) REFERENCES ORDERS (ORDERID) ON DELETE CASCADE;
GO
-- step: new keys go on after those that were loaded.
-- name: set identities
DBCC CHECKIDENT ('CUSTOMERS', RESEED) WITH NO_INFOMSGS;
DBCC CHECKIDENT ('ORDERS', RESEED) WITH NO_INFOMSGS;
DBCC CHECKIDENT ('PRODUCTS', RESEED) WITH NO_INFOMSGS;
GO
{{if .Layout.Lacks.Catalog -}}
-- step: full text.
-- name: create full-text index; table: products; transaction: none
CREATE FULLTEXT INDEX ON PRODUCTS (ACTOR, TITLE) KEY INDEX PK_PRODUCTS;
{{- else}}
-- step: full text. Its statements run outside of transactions, so they are made to be run twice.
-- name: create full-text catalog; transaction: none
IF NOT EXISTS(SELECT 1 FROM sys.fulltext_catalogs WHERE name = 'DS2_FULLTEXT')
    CREATE FULLTEXT CATALOG DS2_FULLTEXT;
GO
-- step: language neutral and without stop words, so that every word of a title or a name is found as it is.
-- name: create full-text index; table: products; transaction: none
IF NOT EXISTS(SELECT 1 FROM sys.fulltext_indexes WHERE object_id = OBJECT_ID('PRODUCTS'))
    CREATE FULLTEXT INDEX ON PRODUCTS (ACTOR LANGUAGE 0, TITLE LANGUAGE 0)
    KEY INDEX PK_PRODUCTS ON {{if .Layout.Lacks.Files}}DS2_FULLTEXT{{else}}(DS2_FULLTEXT, FILEGROUP DS_IND_FG){{end}}
    WITH (CHANGE_TRACKING = AUTO, STOPLIST = OFF);
GO
-- step: the index is filled in the background; browses before its end would find too little.
-- name: wait for full-text index; table: products; transaction: none; progress: full-text
DECLARE @table int = OBJECT_ID('PRODUCTS'), @rows int = (SELECT COUNT(*) FROM PRODUCTS), @filled int, @status int;
DECLARE @before int = -1, @moved datetime = GETDATE();
WHILE 1 = 1
BEGIN
    SET @filled = CAST(OBJECTPROPERTYEX(@table, 'TableFulltextItemCount') AS int);
    SET @status = CAST(OBJECTPROPERTYEX(@table, 'TableFulltextPopulateStatus') AS int);
    IF @status = 6
        THROW 50004, 'the full-text index cannot be filled: the server''s crawl log says why', 1;
    -- Before the crawl begins the status is 0, too. An update in the background, 4, has nothing to add to an index that holds every row.
    IF (@status = 0 OR @status = 4 AND @filled = @rows) AND CAST(OBJECTPROPERTYEX(@table, 'TableFulltextPendingChanges') AS int) = 0
        AND (SELECT has_crawl_completed FROM sys.fulltext_indexes WHERE object_id = @table) = 1
        BREAK;
    -- It may be paused, 5, or wait for what never comes.
    IF @filled <> @before
        SELECT @before = @filled, @moved = GETDATE();
    IF DATEDIFF(minute, @moved, GETDATE()) >= 30
        THROW 50006, 'the full-text index has not grown for half an hour: the server''s crawl log says why', 1;
    RAISERROR('full-text index: %d products so far', 0, 1, @filled) WITH NOWAIT;
    WAITFOR DELAY '00:00:01';
END;
-- The crawl also completes where rows failed.
IF @filled <> @rows OR CAST(OBJECTPROPERTYEX(@table, 'TableFulltextFailCount') AS int) <> 0
    THROW 50005, 'the full-text index does not hold every product: the server''s crawl log says why', 1;
{{- end}}
