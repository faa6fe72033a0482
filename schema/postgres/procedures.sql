-- The six procedures of DS2. The four that only read are plain SQL in one statement each, so that the planner puts
-- their text in the place of the call: calling them costs no more than sending the statement itself, and one round
-- trip. The two that write are PL/pgSQL, which keeps the plans of its statements for the whole session.

-- One row for each title bought before, with the title that others also bought; one row of nulls after the
-- customer's id where nothing was bought yet; no row where user name or password is wrong.
CREATE OR REPLACE FUNCTION login(username_in varchar, password_in varchar)
RETURNS TABLE (customerid integer, title varchar, actor varchar, relatedpurchase varchar)
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
CREATE OR REPLACE FUNCTION new_customer(
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
    ON CONFLICT (username) DO NOTHING
    RETURNING customerid INTO new_id;
    RETURN coalesce(new_id, 0);
END
$$;

CREATE OR REPLACE FUNCTION browse_by_category(batch_size_in integer, category_in smallint)
RETURNS SETOF products LANGUAGE sql STABLE ROWS 5 AS $$
    SELECT * FROM products WHERE category = category_in AND special = 1 LIMIT batch_size_in
$$;

CREATE OR REPLACE FUNCTION browse_by_actor(batch_size_in integer, actor_in text)
RETURNS SETOF products LANGUAGE sql STABLE ROWS 5 AS $$
    SELECT * FROM products
    WHERE to_tsvector('simple', actor) @@ plainto_tsquery('simple', actor_in) LIMIT batch_size_in
$$;

CREATE OR REPLACE FUNCTION browse_by_title(batch_size_in integer, title_in text)
RETURNS SETOF products LANGUAGE sql STABLE ROWS 5 AS $$
    SELECT * FROM products
    WHERE to_tsvector('simple', title) @@ plainto_tsquery('simple', title_in) LIMIT batch_size_in
$$;
