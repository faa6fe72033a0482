{{- $t := ""}}{{if .IndexTablespace}}{{$t = printf " TABLESPACE %s" (ident .IndexTablespace)}}{{end -}}
-- step: freeze the rows. What follows reads all of them several times: it then has no row's transaction to look up and no
-- page to write a second time for what it found, and checks keys in the indexes alone. Nor is anything left for
-- autovacuum to do while a run is measured.

-- name: freeze orderlines; table: orderlines; transaction: none; progress: vacuum
VACUUM FREEZE orderlines;

-- name: freeze customers; table: customers; transaction: none; progress: vacuum
VACUUM FREEZE customers;

-- name: freeze cust_hist; table: cust_hist; transaction: none; progress: vacuum
VACUUM FREEZE cust_hist;

-- name: freeze orders; table: orders; transaction: none; progress: vacuum
VACUUM FREEZE orders;

-- name: freeze products; table: products; transaction: none; progress: vacuum
VACUUM FREEZE products;

-- name: freeze inventory; table: inventory; transaction: none; progress: vacuum
VACUUM FREEZE inventory;

-- step: all indexes, the long ones first. Building them takes locks that let them be built concurrently, which
-- ADD PRIMARY KEY would not: the unique indexes become keys afterwards.

-- name: create index ix_cust_hist_customerid; table: cust_hist; progress: index
CREATE INDEX ix_cust_hist_customerid ON cust_hist (customerid){{$t}};

-- name: create index ix_orderlines_orderid; table: orderlines; progress: index
CREATE UNIQUE INDEX ix_orderlines_orderid ON orderlines (orderid, orderlineid){{$t}};

-- name: create index ix_cust_username; table: customers; progress: index
CREATE UNIQUE INDEX ix_cust_username ON customers (username){{$t}};

-- name: create index ix_cust_username_password; table: customers; progress: index
CREATE UNIQUE INDEX ix_cust_username_password ON customers (username, password){{$t}};

-- name: create index customers_pkey; table: customers; progress: index
CREATE UNIQUE INDEX customers_pkey ON customers (customerid){{$t}};

-- name: create index orders_pkey; table: orders; progress: index
CREATE UNIQUE INDEX orders_pkey ON orders (orderid){{$t}};

-- name: create index ix_order_custid; table: orders; progress: index
CREATE INDEX ix_order_custid ON orders (customerid){{$t}};

-- name: create index ix_prod_title; table: products; progress: index
CREATE INDEX ix_prod_title ON products USING gin (to_tsvector('simple', title)){{$t}};

-- name: create index ix_prod_actor; table: products; progress: index
CREATE INDEX ix_prod_actor ON products USING gin (to_tsvector('simple', actor)){{$t}};

-- name: create index products_pkey; table: products; progress: index
CREATE UNIQUE INDEX products_pkey ON products (prod_id){{$t}};

-- name: create index ix_prod_category; table: products; progress: index
CREATE INDEX ix_prod_category ON products (category){{$t}};

-- name: create index ix_prod_special; table: products; progress: index
CREATE INDEX ix_prod_special ON products (special){{$t}};

-- name: create index ix_prod_cat_special; table: products; progress: index
CREATE INDEX ix_prod_cat_special ON products (category, special){{$t}};

-- name: create index inventory_pkey; table: inventory; progress: index
CREATE UNIQUE INDEX inventory_pkey ON inventory (prod_id){{$t}};

-- name: create index categories_pkey; table: categories; progress: index
CREATE UNIQUE INDEX categories_pkey ON categories (category){{$t}};

-- step: what the planner goes by, in the checks of foreign keys below and in everything after them. What a vacuum or an
-- index leaves of it differs between versions: from 18 on CREATE INDEX leaves none at all of a table without
-- autovacuum, and a check would then take the square of the rows. Indexes come first, because those on expressions have
-- their own statistics.

-- name: analyze customers; table: customers; progress: analyze
ANALYZE customers;

-- name: analyze orders; table: orders; progress: analyze
ANALYZE orders;

-- name: analyze orderlines; table: orderlines; progress: analyze
ANALYZE orderlines;

-- name: analyze cust_hist; table: cust_hist; progress: analyze
ANALYZE cust_hist;

-- step: primary keys out of the unique indexes; nothing is read or built.

-- name: add primary key customers_pkey; table: customers
ALTER TABLE customers ADD PRIMARY KEY USING INDEX customers_pkey;

-- name: add primary key orders_pkey; table: orders
ALTER TABLE orders ADD PRIMARY KEY USING INDEX orders_pkey;

-- name: add primary key products_pkey; table: products
ALTER TABLE products ADD PRIMARY KEY USING INDEX products_pkey;

-- name: add primary key inventory_pkey; table: inventory
ALTER TABLE inventory ADD PRIMARY KEY USING INDEX inventory_pkey;

-- name: add primary key categories_pkey; table: categories
ALTER TABLE categories ADD PRIMARY KEY USING INDEX categories_pkey;

-- step: foreign keys between the tables, one after the other because each locks both of its tables; no row is checked yet.
-- name: add foreign key fk_cust_hist_customerid; table: cust_hist
ALTER TABLE cust_hist ADD CONSTRAINT fk_cust_hist_customerid
    FOREIGN KEY (customerid) REFERENCES customers ON DELETE CASCADE NOT VALID;

-- step: the next.
-- name: add foreign key fk_customerid; table: orders
ALTER TABLE orders ADD CONSTRAINT fk_customerid
    FOREIGN KEY (customerid) REFERENCES customers ON DELETE SET NULL NOT VALID;

-- step: the last.
-- name: add foreign key fk_orderid; table: orderlines
ALTER TABLE orderlines ADD CONSTRAINT fk_orderid
    FOREIGN KEY (orderid) REFERENCES orders ON DELETE CASCADE NOT VALID;

-- step: check all rows, once, concurrently.

-- name: check foreign key fk_cust_hist_customerid; table: cust_hist; progress: scan
ALTER TABLE cust_hist VALIDATE CONSTRAINT fk_cust_hist_customerid;

-- name: check foreign key fk_orderid; table: orderlines; progress: scan
ALTER TABLE orderlines VALIDATE CONSTRAINT fk_orderid;

-- name: check foreign key fk_customerid; table: orders; progress: scan
ALTER TABLE orders VALIDATE CONSTRAINT fk_customerid;

-- step: new keys go on after those that were loaded.
-- name: set sequence of customers; table: customers
SELECT setval(pg_get_serial_sequence('customers', 'customerid'), max(customerid)) FROM customers;

-- name: set sequence of orders; table: orders
SELECT setval(pg_get_serial_sequence('orders', 'orderid'), max(orderid)) FROM orders;

-- name: set sequence of products; table: products
SELECT setval(pg_get_serial_sequence('products', 'prod_id'), max(prod_id)) FROM products;

-- name: set sequence of categories; table: categories
SELECT setval(pg_get_serial_sequence('categories', 'category'), max(category)) FROM categories;
