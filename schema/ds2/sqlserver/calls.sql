-- What a user calls, by the names of the operations: the name of the DS2 procedure, which the protocol calls without any text, but
-- for the prices, which have none.

-- name: login
DS2_LOGIN

-- name: new_customer
DS2_NEW_CUSTOMER

-- name: browse_by_category
DS2_BROWSE_BY_CATEGORY

-- name: browse_by_actor
DS2_BROWSE_BY_ACTOR

-- name: browse_by_title
DS2_BROWSE_BY_TITLE

-- Ten numbers whatever is in the cart, so that the server keeps one plan; a short list is filled up with its first.
-- name: prices
SELECT PROD_ID, PRICE FROM PRODUCTS WHERE PROD_ID IN (@p1, @p2, @p3, @p4, @p5, @p6, @p7, @p8, @p9, @p10)

-- name: purchase
DS2_PURCHASE
