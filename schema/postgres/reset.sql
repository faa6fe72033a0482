-- Back to the state after the load. Until VACUUM all of it is one transaction: what runs added goes, found by the keys
-- that come after the dataset's, and INVENTORY becomes what ds2_inventory holds, a copy of the dataset's own.
-- name: disable trigger restock; table: inventory
ALTER TABLE inventory DISABLE TRIGGER restock;

-- name: delete new rows of cust_hist; table: cust_hist
DELETE FROM cust_hist h USING orders o
WHERE o.orderid > {{.Orders}} AND h.orderid = o.orderid AND h.customerid = o.customerid;

-- name: delete new rows of orderlines; table: orderlines
DELETE FROM orderlines WHERE orderid > {{.Orders}};

-- name: delete new rows of orders; table: orders
DELETE FROM orders WHERE orderid > {{.Orders}};

-- name: delete new rows of customers; table: customers
DELETE FROM customers WHERE customerid > {{.Customers}};

-- name: restore stock; table: inventory
UPDATE inventory i SET quan_in_stock = d.quan_in_stock, sales = d.sales
FROM ds2_inventory d
WHERE d.prod_id = i.prod_id AND (i.quan_in_stock, i.sales) IS DISTINCT FROM (d.quan_in_stock, d.sales);

-- name: empty reorder; table: reorder
TRUNCATE reorder;

-- name: enable trigger restock; table: inventory
ALTER TABLE inventory ENABLE TRIGGER restock;

-- name: set sequence of customers; table: customers
SELECT setval(pg_get_serial_sequence('customers', 'customerid'), {{.Customers}});

-- name: set sequence of orders; table: orders
SELECT setval(pg_get_serial_sequence('orders', 'orderid'), {{.Orders}});

-- step: give the space back, and freeze what is new, as after the load; of tables that the runs left alone there is nothing to
-- do. REORDER is empty.

-- name: vacuum customers; table: customers; transaction: none; unless: untouched; progress: vacuum
VACUUM (FREEZE, ANALYZE) customers;

-- name: vacuum orders; table: orders; transaction: none; unless: untouched; progress: vacuum
VACUUM (FREEZE, ANALYZE) orders;

-- name: vacuum orderlines; table: orderlines; transaction: none; unless: untouched; progress: vacuum
VACUUM (FREEZE, ANALYZE) orderlines;

-- name: vacuum cust_hist; table: cust_hist; transaction: none; unless: untouched; progress: vacuum
VACUUM (FREEZE, ANALYZE) cust_hist;

-- name: vacuum inventory; table: inventory; transaction: none; unless: untouched; progress: vacuum
VACUUM (FREEZE, ANALYZE) inventory;
