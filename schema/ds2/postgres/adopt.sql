-- What a database lacks that DVD Store's own scripts made: the kit's notes. The phase procedures follows.
{{template "notes" .}}

-- New keys go on after those that were loaded, also where the script that sets them was not run.
-- name: set sequence of customers; table: customers
SELECT setval(pg_get_serial_sequence('customers', 'customerid'), max(customerid)) FROM customers;

-- name: set sequence of orders; table: orders
SELECT setval(pg_get_serial_sequence('orders', 'orderid'), max(orderid)) FROM orders;
