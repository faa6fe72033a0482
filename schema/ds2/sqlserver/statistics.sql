{{- if not .Layout.Lacks.Statistics -}}
-- What the optimizer goes by: statistics on pairs of columns beside those that indexes have.
-- name: create statistics ST_CUST_CREDITCARDTYPE_USERNAME; table: customers
CREATE STATISTICS ST_CUST_CREDITCARDTYPE_USERNAME ON CUSTOMERS (CREDITCARDTYPE, USERNAME);
GO
-- name: create statistics ST_CUST_CREDITCARDTYPE_CUSTOMERID; table: customers
CREATE STATISTICS ST_CUST_CREDITCARDTYPE_CUSTOMERID ON CUSTOMERS (CREDITCARDTYPE, CUSTOMERID);
GO
-- name: create statistics ST_PROD_PRODID_SPECIAL; table: products
CREATE STATISTICS ST_PROD_PRODID_SPECIAL ON PRODUCTS (PROD_ID, SPECIAL);
GO
-- name: create statistics ST_PROD_CATEGORY_PRODID; table: products
CREATE STATISTICS ST_PROD_CATEGORY_PRODID ON PRODUCTS (CATEGORY, PROD_ID);
GO
-- step: all statistics of a table, with the storage report's sample.
-- name: update statistics of customers; table: customers
UPDATE STATISTICS CUSTOMERS WITH SAMPLE 18 PERCENT;
GO
-- name: update statistics of cust_hist; table: cust_hist
UPDATE STATISTICS CUST_HIST WITH SAMPLE 18 PERCENT;
GO
-- name: update statistics of orders; table: orders
UPDATE STATISTICS ORDERS WITH SAMPLE 18 PERCENT;
GO
-- name: update statistics of orderlines; table: orderlines
UPDATE STATISTICS ORDERLINES WITH SAMPLE 18 PERCENT;
GO
-- name: update statistics of products; table: products
UPDATE STATISTICS PRODUCTS WITH SAMPLE 18 PERCENT;
GO
-- name: update statistics of inventory; table: inventory
UPDATE STATISTICS INVENTORY WITH SAMPLE 18 PERCENT;
GO
-- name: update statistics of categories; table: categories
UPDATE STATISTICS CATEGORIES WITH SAMPLE 18 PERCENT;
GO
{{- end}}
{{- if not .Layout.Lacks.Recovery}}
-- step: the load is done. Full recovery takes effect with the first full backup, such as ds2 snapshot makes.
-- name: set recovery full; transaction: none
ALTER DATABASE {{ident .Database}} SET RECOVERY FULL;
{{- end}}
