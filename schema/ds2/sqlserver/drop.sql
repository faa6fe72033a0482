-- Everything that the other phases made in the database, but for the driver's user and the full-text catalog, which is
-- empty without its index and cannot be dropped in a transaction.
-- name: drop procedures
DROP PROCEDURE IF EXISTS
    DS2_LOGIN, DS2_NEW_CUSTOMER, DS2_BROWSE_BY_CATEGORY, DS2_BROWSE_BY_ACTOR, DS2_BROWSE_BY_TITLE, DS2_PURCHASE;
GO
-- name: drop tables
DROP TABLE IF EXISTS
    ds2_info, ds2_steps, ds2_inventory, CATEGORIES, ORDERLINES, CUST_HIST, ORDERS, CUSTOMERS, PRODUCTS, INVENTORY, REORDER;
