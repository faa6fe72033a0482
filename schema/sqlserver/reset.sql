-- Back to the state after the load, in one transaction: what runs added goes, found by the keys that come after the
-- dataset's, and INVENTORY becomes what ds2_inventory holds, a copy of the dataset's own.
DISABLE TRIGGER RESTOCK ON INVENTORY;
GO
DELETE h FROM CUST_HIST AS h
JOIN ORDERS AS o ON o.ORDERID = h.ORDERID AND o.CUSTOMERID = h.CUSTOMERID
WHERE o.ORDERID > {{.Orders}};
GO
DELETE FROM ORDERS WHERE ORDERID > {{.Orders}}; -- and by cascade from ORDERLINES
GO
DELETE FROM CUSTOMERS WHERE CUSTOMERID > {{.Customers}};
GO
UPDATE i
SET QUAN_IN_STOCK = d.QUAN_IN_STOCK, SALES = d.SALES
FROM INVENTORY AS i
JOIN ds2_inventory AS d ON d.PROD_ID = i.PROD_ID
WHERE i.QUAN_IN_STOCK <> d.QUAN_IN_STOCK OR i.SALES <> d.SALES;
GO
DELETE FROM REORDER;
GO
ENABLE TRIGGER RESTOCK ON INVENTORY;
GO
DBCC CHECKIDENT ('CUSTOMERS', RESEED, {{.Customers}}) WITH NO_INFOMSGS;
GO
DBCC CHECKIDENT ('ORDERS', RESEED, {{.Orders}}) WITH NO_INFOMSGS;
