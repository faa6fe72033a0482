-- What a user calls, by the names of the operations: the DS2 procedures, but for the prices, which have none. A procedure that only
-- reads costs what its statement does, whose text the planner puts in its place; PURCHASE by statements took nine round trips and 1.7
-- times as long.

-- name: login
SELECT * FROM ds2_login($1, $2)

-- name: new_customer
SELECT ds2_new_customer($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)

-- name: browse_by_category
SELECT * FROM ds2_browse_by_category($1, $2)

-- name: browse_by_actor
SELECT * FROM ds2_browse_by_actor($1, $2)

-- name: browse_by_title
SELECT * FROM ds2_browse_by_title($1, $2)

-- name: prices
SELECT prod_id, price FROM products WHERE prod_id = ANY ($1::integer[])

-- name: purchase
SELECT ds2_purchase($1, $2, $3, $4, $5, $6, $7)
