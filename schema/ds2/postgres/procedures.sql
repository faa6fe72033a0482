-- The six procedures of DS2, under names of the kit's own: DVD Store's may be there too. The four that only read are plain SQL in one statement each, so that the planner puts
-- their text in the place of the call: calling them costs no more than sending the statement itself, and one round
-- trip. The two that write are PL/pgSQL, which keeps the plans of its statements for the whole session.

-- One row for each title bought before, with the title that others also bought; one row of nulls after the
-- customer's id where nothing was bought yet; no row where user name or password is wrong.
-- name: create function ds2_login
CREATE FUNCTION ds2_login(username_in varchar, password_in varchar)
RETURNS TABLE (customerid integer, title text, actor text, relatedpurchase text)
LANGUAGE sql STABLE ROWS 5 AS $$
    SELECT c.customerid, p.title, p.actor, r.title
    FROM customers c
    LEFT JOIN cust_hist h ON h.customerid = c.customerid
    LEFT JOIN products p ON p.prod_id = h.prod_id
    LEFT JOIN products r ON r.prod_id = p.common_prod_id
    WHERE c.username = username_in AND c.password = password_in
$$;

-- The new customer's id, or 0 where the user name is taken. The unique index decides, so that of two who ask for the
-- same name at once one gets it. Values that are missing are null, as they are after a load.
-- name: create function ds2_new_customer
CREATE FUNCTION ds2_new_customer(
    firstname_in varchar, lastname_in varchar, address1_in varchar, address2_in varchar, city_in varchar,
    state_in varchar, zip_in varchar, country_in varchar, region_in smallint, email_in varchar, phone_in varchar,
    creditcardtype_in integer, creditcard_in varchar, creditcardexpiration_in varchar, username_in varchar,
    password_in varchar, age_in smallint, income_in integer, gender_in varchar)
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    new_id integer;
BEGIN
    INSERT INTO customers (
        firstname, lastname, address1, address2, city, state, zip, country, region, email, phone,
        creditcardtype, creditcard, creditcardexpiration, username, password, age, income, gender)
    VALUES (
        firstname_in, lastname_in, address1_in, nullif(address2_in, ''), city_in, nullif(state_in, ''), zip_in,
        country_in, region_in, email_in, phone_in, creditcardtype_in, creditcard_in, creditcardexpiration_in,
        username_in, password_in, age_in, income_in, gender_in)
    ON CONFLICT DO NOTHING -- of either unique index: which of the two is asked first is not settled
    RETURNING customerid INTO new_id;
    RETURN coalesce(new_id, 0);
END
$$;

-- name: create function ds2_browse_by_category
CREATE FUNCTION ds2_browse_by_category(batch_size_in integer, category_in smallint)
RETURNS SETOF products LANGUAGE sql STABLE ROWS 5 AS $$
    SELECT * FROM products WHERE category = category_in AND special = 1 LIMIT batch_size_in
$$;

-- name: create function ds2_browse_by_actor
CREATE FUNCTION ds2_browse_by_actor(batch_size_in integer, actor_in text)
RETURNS SETOF products LANGUAGE sql STABLE ROWS 5 AS $$
    SELECT * FROM products
    WHERE to_tsvector('simple', actor) @@ plainto_tsquery('simple', actor_in) LIMIT batch_size_in
$$;

-- name: create function ds2_browse_by_title
CREATE FUNCTION ds2_browse_by_title(batch_size_in integer, title_in text)
RETURNS SETOF products LANGUAGE sql STABLE ROWS 5 AS $$
    SELECT * FROM products
    WHERE to_tsvector('simple', title) @@ plainto_tsquery('simple', title_in) LIMIT batch_size_in
$$;

-- The new order's id, or 0 where a product's stock falls short: the order is then rolled back whole. Stock is checked
-- and taken in one update, so that no purchase loses another's; a product that stands twice in the cart is taken once,
-- with the sum; products are taken by number, so that two purchases never wait for each other in a circle. Taking them
-- one by one costs a third less than locking the rows first and updating them in one statement, subtransaction included.
-- name: create function ds2_purchase
CREATE FUNCTION ds2_purchase(
    customerid_in integer, number_items integer, netamount_in numeric, taxamount_in numeric, totalamount_in numeric,
    prod_ids_in integer[], qtys_in smallint[])
RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
    new_orderid integer;
    item record;
BEGIN
    IF number_items NOT BETWEEN 1 AND 10
        OR cardinality(prod_ids_in) <> number_items OR cardinality(qtys_in) <> number_items THEN
        RAISE EXCEPTION 'purchase: % items, with % products and % quantities',
            number_items, cardinality(prod_ids_in), cardinality(qtys_in) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO orders (orderdate, customerid, netamount, tax, totalamount)
    VALUES (current_date, customerid_in, netamount_in, taxamount_in, totalamount_in)
    RETURNING orderid INTO new_orderid;
    FOR item IN
        SELECT prod_id, sum(quantity)::integer AS quantity
        FROM unnest(prod_ids_in, qtys_in) AS cart (prod_id, quantity)
        GROUP BY prod_id ORDER BY prod_id
    LOOP
        UPDATE inventory SET quan_in_stock = quan_in_stock - item.quantity, sales = sales + item.quantity
        WHERE prod_id = item.prod_id AND quan_in_stock >= item.quantity;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'product % is short', item.prod_id USING ERRCODE = 'DS200';
        END IF;
    END LOOP;
    INSERT INTO orderlines (orderlineid, orderid, prod_id, quantity, orderdate)
    SELECT line, new_orderid, prod_id, quantity, current_date
    FROM unnest(prod_ids_in, qtys_in) WITH ORDINALITY AS cart (prod_id, quantity, line);
    INSERT INTO cust_hist (customerid, orderid, prod_id)
    SELECT customerid_in, new_orderid, prod_id FROM unnest(prod_ids_in) AS cart (prod_id);
    RETURN new_orderid;
EXCEPTION
    WHEN SQLSTATE 'DS200' THEN
        RETURN 0;
END
$$;

-- Keeps the share of purchases that find too little stock constant: what an update leaves under 3 is noted in REORDER
-- and filled up to 250, popular products (every 10,000th) to 2,500. The trigger changes the row on its way into the
-- table, so it is right for every row of a statement, is not called again by what it does, writes no second version of
-- the row, and costs nothing where enough is left.
-- name: create function ds2_restock
CREATE FUNCTION ds2_restock() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO reorder (prod_id, date_low, quan_low) VALUES (NEW.prod_id, current_date, NEW.quan_in_stock);
    NEW.quan_in_stock := CASE WHEN NEW.prod_id % 10000 = 0 THEN 2500 ELSE 250 END;
    RETURN NEW;
END
$$;

-- step: needs its function. A database that DVD Store's own scripts made has their trigger, which stays.
-- name: create trigger ds2_restock; table: inventory
DO $do$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'inventory'::regclass AND NOT tgisinternal) THEN
        CREATE TRIGGER ds2_restock BEFORE UPDATE ON inventory
            FOR EACH ROW WHEN (NEW.quan_in_stock < 3) EXECUTE FUNCTION ds2_restock();
    END IF;
END
$do$;
