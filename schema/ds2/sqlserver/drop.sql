-- Everything that the other phases made in the database, but for the driver's user and the full-text catalog, which is
-- empty without its index and cannot be dropped in a transaction.
-- name: drop procedures
DROP PROCEDURE IF EXISTS LOGIN, NEW_CUSTOMER, BROWSE_BY_CATEGORY, BROWSE_BY_ACTOR, BROWSE_BY_TITLE, PURCHASE;
GO
-- name: drop tables
DROP TABLE IF EXISTS
    ds2_info, ds2_steps, ds2_inventory, CATEGORIES, ORDERLINES, CUST_HIST, ORDERS, CUSTOMERS, PRODUCTS, INVENTORY, REORDER;
