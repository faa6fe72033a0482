-- Everything that the other phases made in the database, functions first because some return rows of a table. Without
-- CASCADE: where something of the user's own hangs on a table of DS2, the server says so and nothing is dropped.
-- name: drop functions
DROP FUNCTION IF EXISTS
    ds2_login(varchar, varchar),
    ds2_new_customer(varchar, varchar, varchar, varchar, varchar, varchar, varchar, varchar, smallint, varchar, varchar,
        integer, varchar, varchar, varchar, varchar, smallint, integer, varchar),
    ds2_browse_by_category(integer, smallint), ds2_browse_by_actor(integer, text), ds2_browse_by_title(integer, text),
    ds2_purchase(integer, integer, numeric, numeric, numeric, integer[], smallint[]);

-- name: drop tables
DROP TABLE IF EXISTS
    ds2_info, ds2_steps, categories, orderlines, cust_hist, orders, customers, products, inventory, reorder;

-- name: drop trigger function
DROP FUNCTION IF EXISTS ds2_restock();
