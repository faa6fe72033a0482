-- step: what the planner goes by, of the tables that no foreign key asked about before.

-- name: analyze products; table: products; progress: analyze
ANALYZE products;

-- name: analyze inventory; table: inventory; progress: analyze
ANALYZE inventory;

-- name: analyze categories; table: categories; progress: analyze
ANALYZE categories;

-- step: from now on autovacuum is welcome.

-- name: allow autovacuum of customers; table: customers
ALTER TABLE customers RESET (autovacuum_enabled);

-- name: allow autovacuum of orders; table: orders
ALTER TABLE orders RESET (autovacuum_enabled);

-- name: allow autovacuum of orderlines; table: orderlines
ALTER TABLE orderlines RESET (autovacuum_enabled);

-- name: allow autovacuum of cust_hist; table: cust_hist
ALTER TABLE cust_hist RESET (autovacuum_enabled);

-- name: allow autovacuum of products; table: products
ALTER TABLE products RESET (autovacuum_enabled);

-- name: allow autovacuum of inventory; table: inventory
ALTER TABLE inventory RESET (autovacuum_enabled);
