{{- $t := ""}}{{if .IndexTablespace}}{{$t = printf " TABLESPACE %s" (ident .IndexTablespace)}}{{end -}}
-- step: freeze the rows. What follows reads all of them several times: it then has no row's transaction to look up and no
-- page to write a second time for what it found, and checks keys in the indexes alone. Nor is anything left for
-- autovacuum to do while a run is measured.

VACUUM FREEZE orderlines;

VACUUM FREEZE customers;

VACUUM FREEZE cust_hist;

VACUUM FREEZE orders;

VACUUM FREEZE products;

VACUUM FREEZE inventory;

-- step: all indexes, the long ones first. Building them takes locks that let them be built side by side, which
-- ADD PRIMARY KEY would not: the unique indexes become keys afterwards.

CREATE INDEX ix_cust_hist_customerid ON cust_hist (customerid){{$t}};

CREATE UNIQUE INDEX ix_orderlines_orderid ON orderlines (orderid, orderlineid){{$t}};

CREATE UNIQUE INDEX ix_cust_username ON customers (username){{$t}};

CREATE UNIQUE INDEX customers_pkey ON customers (customerid){{$t}};

CREATE UNIQUE INDEX orders_pkey ON orders (orderid){{$t}};

CREATE INDEX ix_order_custid ON orders (customerid){{$t}};

CREATE INDEX ix_prod_title ON products USING gin (to_tsvector('simple', title)){{$t}};

CREATE INDEX ix_prod_actor ON products USING gin (to_tsvector('simple', actor)){{$t}};

CREATE UNIQUE INDEX products_pkey ON products (prod_id){{$t}};

CREATE INDEX ix_prod_category ON products (category){{$t}};

CREATE INDEX ix_prod_special ON products (special){{$t}};

CREATE INDEX ix_prod_cat_special ON products (category, special){{$t}};

CREATE UNIQUE INDEX inventory_pkey ON inventory (prod_id){{$t}};

CREATE UNIQUE INDEX categories_pkey ON categories (category){{$t}};

-- step: primary keys out of the unique indexes; nothing is read or built.

ALTER TABLE customers ADD PRIMARY KEY USING INDEX customers_pkey;

ALTER TABLE orders ADD PRIMARY KEY USING INDEX orders_pkey;

ALTER TABLE products ADD PRIMARY KEY USING INDEX products_pkey;

ALTER TABLE inventory ADD PRIMARY KEY USING INDEX inventory_pkey;

ALTER TABLE categories ADD PRIMARY KEY USING INDEX categories_pkey;

-- step: foreign keys between the tables, one after the other because each locks both of its tables; no row is checked yet.
ALTER TABLE cust_hist ADD CONSTRAINT fk_cust_hist_customerid
    FOREIGN KEY (customerid) REFERENCES customers ON DELETE CASCADE NOT VALID;

-- step: the next.
ALTER TABLE orders ADD CONSTRAINT fk_customerid
    FOREIGN KEY (customerid) REFERENCES customers NOT VALID;

-- step: the last.
ALTER TABLE orderlines ADD CONSTRAINT fk_orderid
    FOREIGN KEY (orderid) REFERENCES orders ON DELETE CASCADE NOT VALID;

-- step: check all rows, once, side by side.

ALTER TABLE cust_hist VALIDATE CONSTRAINT fk_cust_hist_customerid;

ALTER TABLE orderlines VALIDATE CONSTRAINT fk_orderid;

ALTER TABLE orders VALIDATE CONSTRAINT fk_customerid;

-- step: new keys go on after those that were loaded.
SELECT setval(pg_get_serial_sequence('customers', 'customerid'), max(customerid)) FROM customers;

SELECT setval(pg_get_serial_sequence('orders', 'orderid'), max(orderid)) FROM orders;

SELECT setval(pg_get_serial_sequence('products', 'prod_id'), max(prod_id)) FROM products;

SELECT setval(pg_get_serial_sequence('categories', 'category'), max(category)) FROM categories;
