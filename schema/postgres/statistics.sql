-- step: what the planner goes by.

ANALYZE customers;

ANALYZE orders;

ANALYZE orderlines;

ANALYZE cust_hist;

ANALYZE products;

ANALYZE inventory;

ANALYZE categories;

-- step: from now on autovacuum is welcome.

ALTER TABLE customers RESET (autovacuum_enabled);

ALTER TABLE orders RESET (autovacuum_enabled);

ALTER TABLE orderlines RESET (autovacuum_enabled);

ALTER TABLE cust_hist RESET (autovacuum_enabled);

ALTER TABLE products RESET (autovacuum_enabled);

ALTER TABLE inventory RESET (autovacuum_enabled);
