-- Back to the state after the load. Until VACUUM all of it is one transaction: what runs added goes, found by the keys
-- that come after the dataset's, and INVENTORY becomes what ds2_inventory holds, a copy of the dataset's own.
ALTER TABLE inventory DISABLE TRIGGER restock;

DELETE FROM cust_hist h USING orders o
WHERE o.orderid > {{.Orders}} AND h.orderid = o.orderid AND h.customerid = o.customerid;

DELETE FROM orderlines WHERE orderid > {{.Orders}};

DELETE FROM orders WHERE orderid > {{.Orders}};

DELETE FROM customers WHERE customerid > {{.Customers}};

UPDATE inventory i SET quan_in_stock = d.quan_in_stock, sales = d.sales
FROM ds2_inventory d
WHERE d.prod_id = i.prod_id AND (i.quan_in_stock, i.sales) IS DISTINCT FROM (d.quan_in_stock, d.sales);

TRUNCATE reorder;

ALTER TABLE inventory ENABLE TRIGGER restock;

SELECT setval(pg_get_serial_sequence('customers', 'customerid'), {{.Customers}});

SELECT setval(pg_get_serial_sequence('orders', 'orderid'), {{.Orders}});

-- step: give the space back, and freeze what is new, as after the load.

VACUUM (FREEZE, ANALYZE) customers, orders, orderlines, cust_hist, inventory, reorder;
