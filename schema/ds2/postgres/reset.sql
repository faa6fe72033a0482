-- Back to the state after the load. Until VACUUM all of it is one transaction: what runs added goes, found by the keys
-- that come after the dataset's, and INVENTORY is filled again. To update its rows instead would double the table and its index, of
-- which runs would then read more from the drives for an order.
-- name: disable triggers of inventory; table: inventory
ALTER TABLE inventory DISABLE TRIGGER USER;

-- The triggers of foreign keys look once for each deleted row for those that refer to it. The reset deletes all of these itself, so
-- it does without the triggers where the login may: with them it takes a third longer.
-- name: leave out the triggers of foreign keys
DO $$
BEGIN
    PERFORM set_config('session_replication_role', 'replica', true);
EXCEPTION WHEN insufficient_privilege THEN NULL;
END
$$;

-- name: fill inventory again; table: inventory; then: copy
TRUNCATE inventory;

-- No index leads to CUST_HIST by order. But what runs added lies behind the dataset's rows, which nothing ever removes: the
-- function finds by halves the last block that holds one of those. Reading on from there reads what runs wrote.
-- name: create function ds2_tail; table: cust_hist
CREATE OR REPLACE FUNCTION pg_temp.ds2_tail(orders bigint) RETURNS tid LANGUAGE plpgsql AS $$
DECLARE
    held bigint := 0; -- this block and all before it hold rows of the dataset
    free bigint := pg_relation_size('cust_hist') / current_setting('block_size')::bigint; -- this one and all behind it do not
    middle bigint;
BEGIN
    WHILE free - held > 1 LOOP
        middle := (held + free) / 2;
        IF EXISTS (
            SELECT FROM cust_hist
            WHERE ctid = ANY (ARRAY(SELECT format('(%s,%s)', middle, i)::tid FROM generate_series(1, 300) i)) AND orderid <= orders -- a block of 8 kB holds 185
        ) THEN
            held := middle;
        ELSE
            free := middle;
        END IF;
    END LOOP;
    RETURN format('(%s,0)', held)::tid;
END
$$;

-- name: create table ds2_gone; table: cust_hist
CREATE TEMPORARY TABLE ds2_gone (rows bigint NOT NULL) ON COMMIT DROP;

-- name: delete new rows of cust_hist; table: cust_hist
WITH gone AS (
    DELETE FROM cust_hist WHERE ctid >= (SELECT pg_temp.ds2_tail({{.Orders}})) AND orderid > {{.Orders}} RETURNING 1
)
INSERT INTO ds2_gone SELECT count(*) FROM gone HAVING count(*) > 0;

-- Every order line has its row in CUST_HIST. Where not as many are gone, some lie elsewhere, as after a VACUUM FULL.
-- name: delete scattered rows of cust_hist; table: cust_hist
DELETE FROM cust_hist h USING orders o
WHERE (SELECT coalesce(sum(rows), 0) FROM ds2_gone) <> (SELECT count(*) FROM orderlines WHERE orderid > {{.Orders}})
    AND o.orderid > {{.Orders}} AND h.orderid = o.orderid AND h.customerid = o.customerid;

-- name: delete new rows of orderlines; table: orderlines
DELETE FROM orderlines WHERE orderid > {{.Orders}};

-- name: delete new rows of orders; table: orders
DELETE FROM orders WHERE orderid > {{.Orders}};

-- name: delete new rows of customers; table: customers
DELETE FROM customers WHERE customerid > {{.Customers}};

-- name: forget the sales of runs
DELETE FROM ds2_info WHERE name = 'last_sales';

-- name: empty reorder; table: reorder
TRUNCATE reorder;

-- name: enable triggers of inventory; table: inventory
ALTER TABLE inventory ENABLE TRIGGER USER;

-- The server sets a sequence at once and for good, whatever becomes of the transaction, unless the sequence was restarted in it: without
-- that, a reset that is rolled back would leave the rows of runs and have the next run count from below them. A key of DVD Store's own
-- scripts is a serial, no identity, so the sequence is looked up.
-- name: set sequences; table: customers
DO $$
DECLARE
    customers text := pg_get_serial_sequence('customers', 'customerid');
    orders text := pg_get_serial_sequence('orders', 'orderid');
BEGIN
    EXECUTE format('ALTER SEQUENCE %s RESTART', customers);
    EXECUTE format('ALTER SEQUENCE %s RESTART', orders);
    PERFORM setval(customers, {{.Customers}}), setval(orders, {{.Orders}});
END
$$;

-- step: give the space back, in tables that the runs changed. No rows have to be frozen: what runs did to the rows of customers was
-- to lock them, and to freeze those again would write a good part of the table. Nor do the statistics need to be made again: those
-- of the load are right once more, unless the server made others in a run. INVENTORY is new. REORDER is empty.

-- name: vacuum customers; table: customers; transaction: none; unless: untouched; progress: vacuum
VACUUM customers;

-- name: vacuum orders; table: orders; transaction: none; unless: untouched; progress: vacuum
VACUUM orders;

-- name: vacuum orderlines; table: orderlines; transaction: none; unless: untouched; progress: vacuum
VACUUM orderlines;

-- name: vacuum cust_hist; table: cust_hist; transaction: none; unless: untouched; progress: vacuum
VACUUM cust_hist;

-- name: vacuum inventory; table: inventory; transaction: none; progress: vacuum
VACUUM (ANALYZE) inventory;

-- name: analyze customers; table: customers; transaction: none; unless: analyzed
ANALYZE customers;

-- name: analyze orders; table: orders; transaction: none; unless: analyzed
ANALYZE orders;

-- name: analyze orderlines; table: orderlines; transaction: none; unless: analyzed
ANALYZE orderlines;

-- name: analyze cust_hist; table: cust_hist; transaction: none; unless: analyzed
ANALYZE cust_hist;
