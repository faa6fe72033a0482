-- Back to the state after the load, in one transaction: what runs added goes, found by the keys that come after the
-- dataset's, and INVENTORY becomes what ds2_inventory holds, a copy of the dataset's own. That one is made before, so that the
-- transaction is short, and beside INVENTORY, not in the filegroup of the server's own tables.
-- name: create table ds2_inventory; table: ds2_inventory; transaction: none; then: copy
DROP TABLE IF EXISTS ds2_inventory;
DECLARE @place varchar(20) = '';
IF EXISTS (SELECT 1 FROM sys.filegroups WHERE name = 'DS_MISC_FG')
    SET @place = ' ON DS_MISC_FG';
EXEC('CREATE TABLE ds2_inventory (PROD_ID int NOT NULL PRIMARY KEY CLUSTERED, QUAN_IN_STOCK int NOT NULL, SALES int NOT NULL)' + @place);
GO
-- name: disable triggers of inventory; table: inventory
DISABLE TRIGGER ALL ON INVENTORY;
GO
-- name: delete new rows of cust_hist; table: cust_hist
DELETE h FROM CUST_HIST AS h WITH (TABLOCK) -- without it the heap would keep its empty pages, and the next run fill them
JOIN ORDERS AS o ON o.ORDERID = h.ORDERID AND o.CUSTOMERID = h.CUSTOMERID
WHERE o.ORDERID > {{.Orders}};
GO
-- name: delete new rows of orders; table: orders
DELETE FROM ORDERS WHERE ORDERID > {{.Orders}}; -- and by cascade from ORDERLINES
GO
-- name: delete new rows of customers; table: customers
DELETE FROM CUSTOMERS WHERE CUSTOMERID > {{.Customers}};
GO
-- name: restore stock; table: inventory
UPDATE i
SET QUAN_IN_STOCK = d.QUAN_IN_STOCK, SALES = d.SALES
FROM INVENTORY AS i
JOIN ds2_inventory AS d ON d.PROD_ID = i.PROD_ID
WHERE i.QUAN_IN_STOCK <> d.QUAN_IN_STOCK OR i.SALES <> d.SALES;
GO
-- name: forget the sales of runs
DELETE FROM ds2_info WHERE name = 'last_sales';
GO
-- name: empty reorder; table: reorder
DELETE FROM REORDER;
GO
-- name: enable triggers of inventory; table: inventory
ENABLE TRIGGER ALL ON INVENTORY;
GO
-- After the commit: where a reset is cut off, an identity that went back without its rows would give their keys again.
-- name: reset identity of customers; table: customers; transaction: none
DBCC CHECKIDENT ('CUSTOMERS', RESEED, {{.Customers}}) WITH NO_INFOMSGS;
GO
-- name: reset identity of orders; table: orders; transaction: none
DBCC CHECKIDENT ('ORDERS', RESEED, {{.Orders}}) WITH NO_INFOMSGS;
GO
-- name: drop table ds2_inventory; table: ds2_inventory; transaction: none
DROP TABLE ds2_inventory;
