-- Secondary indexes. The user name alone is unique, with the password beside it: (USERNAME, PASSWORD), DS2's own key,
-- would let two customers with different passwords share a name.
-- name: create index IX_CUST_USERNAME; table: customers; cost: 1
CREATE UNIQUE INDEX IX_CUST_USERNAME ON CUSTOMERS (USERNAME) INCLUDE (PASSWORD){{on . "DS_IND_FG"}};
GO
-- name: create index IX_CUST_HIST_CUSTOMERID; table: cust_hist; cost: 1
CREATE INDEX IX_CUST_HIST_CUSTOMERID ON CUST_HIST (CUSTOMERID){{on . "DS_IND_FG"}};
GO
-- name: create index IX_CUST_HIST_CUSTOMERID_PRODID; table: cust_hist; cost: 1
CREATE INDEX IX_CUST_HIST_CUSTOMERID_PRODID ON CUST_HIST (CUSTOMERID, PROD_ID){{on . "DS_IND_FG"}};
GO
-- name: create index IX_ORDER_CUSTID; table: orders; cost: 1
CREATE INDEX IX_ORDER_CUSTID ON ORDERS (CUSTOMERID){{on . "DS_IND_FG"}};
GO
-- name: create index IX_PROD_PRODID; table: products; cost: 1
CREATE INDEX IX_PROD_PRODID ON PRODUCTS (PROD_ID) INCLUDE (TITLE){{on . "DS_IND_FG"}};
GO
-- name: create index IX_PROD_PRODID_COMMON_PRODID; table: products; cost: 1
CREATE INDEX IX_PROD_PRODID_COMMON_PRODID ON PRODUCTS (PROD_ID, COMMON_PROD_ID) INCLUDE (TITLE, ACTOR){{on . "DS_IND_FG"}};
GO
-- name: create index IX_PROD_SPECIAL_CATEGORY_PRODID; table: products; cost: 1
CREATE INDEX IX_PROD_SPECIAL_CATEGORY_PRODID ON PRODUCTS (SPECIAL, CATEGORY, PROD_ID)
    INCLUDE (TITLE, ACTOR, PRICE, COMMON_PROD_ID){{on . "DS_IND_FG"}};
GO
-- name: create index IX_PROD_CATEGORY; table: products; cost: 1
CREATE INDEX IX_PROD_CATEGORY ON PRODUCTS (CATEGORY){{on . "DS_IND_FG"}};
GO
-- name: create index IX_PROD_SPECIAL; table: products; cost: 1
CREATE INDEX IX_PROD_SPECIAL ON PRODUCTS (SPECIAL){{on . "DS_IND_FG"}};
GO
-- name: create index IX_PROD_CAT_SPECIAL; table: products; cost: 1
CREATE INDEX IX_PROD_CAT_SPECIAL ON PRODUCTS (CATEGORY, SPECIAL){{on . "DS_IND_FG"}};
GO
-- step: foreign keys, one after the other because each locks both of its tables.
-- name: add foreign key FK_CUST_HIST_CUSTOMERID; table: cust_hist
ALTER TABLE CUST_HIST ADD CONSTRAINT FK_CUST_HIST_CUSTOMERID
    FOREIGN KEY (CUSTOMERID) REFERENCES CUSTOMERS (CUSTOMERID) ON DELETE CASCADE;
GO
-- step: the next.
-- name: add foreign key FK_CUSTOMERID; table: orders
ALTER TABLE ORDERS ADD CONSTRAINT FK_CUSTOMERID
    FOREIGN KEY (CUSTOMERID) REFERENCES CUSTOMERS (CUSTOMERID);
GO
-- step: the last.
-- name: add foreign key FK_ORDERID; table: orderlines
ALTER TABLE ORDERLINES ADD CONSTRAINT FK_ORDERID
    FOREIGN KEY (ORDERID) REFERENCES ORDERS (ORDERID) ON DELETE CASCADE;
GO
-- step: new keys go on after those that were loaded.
-- name: set identities
DBCC CHECKIDENT ('CUSTOMERS', RESEED) WITH NO_INFOMSGS;
DBCC CHECKIDENT ('ORDERS', RESEED) WITH NO_INFOMSGS;
DBCC CHECKIDENT ('PRODUCTS', RESEED) WITH NO_INFOMSGS;
GO
{{if .SQLServer.Lacks.Catalog -}}
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
    KEY INDEX PK_PRODUCTS ON {{if .SQLServer.Lacks.Files}}DS2_FULLTEXT{{else}}(DS2_FULLTEXT, FILEGROUP DS_IND_FG){{end}}
    WITH (CHANGE_TRACKING = AUTO, STOPLIST = OFF);
GO
-- step: the index is filled in the background; browses before its end would find too little.
-- name: wait for full-text index; table: products; transaction: none; progress: full-text
WHILE (SELECT has_crawl_completed FROM sys.fulltext_indexes WHERE object_id = OBJECT_ID('PRODUCTS')) = 0
BEGIN
    DECLARE @products int = CAST(OBJECTPROPERTYEX(OBJECT_ID('PRODUCTS'), 'TableFulltextItemCount') AS int);
    RAISERROR('full-text index: %d products so far', 0, 1, @products) WITH NOWAIT;
    IF CAST(OBJECTPROPERTYEX(OBJECT_ID('PRODUCTS'), 'TableFulltextPopulateStatus') AS int) = 6
        THROW 50004, 'the full-text index cannot be filled: the server''s crawl log says why', 1;
    WAITFOR DELAY '00:00:01';
END;
{{- end}}
