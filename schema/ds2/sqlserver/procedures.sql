-- The six procedures of DS2 and the restock trigger, under names of the kit's own: DVD Store's may be there too. Each returns what it found as one result set, so that a call is one
-- round trip.

-- One row for each title bought before, with the title that others also bought; one row of nulls after the
-- customer's id where nothing was bought yet; no row where user name or password is wrong.
-- name: create procedure DS2_LOGIN
CREATE PROCEDURE DS2_LOGIN
    @username varchar(50), @password varchar(50)
AS
SET NOCOUNT ON;
SELECT c.CUSTOMERID, p.TITLE, p.ACTOR, r.TITLE AS RELATEDPURCHASE
FROM CUSTOMERS AS c
LEFT JOIN CUST_HIST AS h ON h.CUSTOMERID = c.CUSTOMERID
LEFT JOIN PRODUCTS AS p ON p.PROD_ID = h.PROD_ID
LEFT JOIN PRODUCTS AS r ON r.PROD_ID = p.COMMON_PROD_ID
WHERE c.USERNAME = @username AND c.PASSWORD = @password;
GO
-- The new customer's id, or 0 where the user name is taken. Name and password together are unique, so that of two who ask
-- for the same name at once, with the password that all of DS2's customers have, one gets it. Values that are missing are
-- null, as they are after a load.
-- name: create procedure DS2_NEW_CUSTOMER
CREATE PROCEDURE DS2_NEW_CUSTOMER
    @firstname varchar(50), @lastname varchar(50), @address1 varchar(50), @address2 varchar(50), @city varchar(50),
    @state varchar(50), @zip int, @country varchar(50), @region tinyint, @email varchar(50), @phone varchar(50),
    @creditcardtype tinyint, @creditcard varchar(50), @creditcardexpiration varchar(50), @username varchar(50),
    @password varchar(50), @age tinyint, @income int, @gender char(1)
AS
SET NOCOUNT ON;
BEGIN TRY
    INSERT INTO CUSTOMERS (
        FIRSTNAME, LASTNAME, ADDRESS1, ADDRESS2, CITY, STATE, ZIP, COUNTRY, REGION, EMAIL, PHONE,
        CREDITCARDTYPE, CREDITCARD, CREDITCARDEXPIRATION, USERNAME, PASSWORD, AGE, INCOME, GENDER)
    SELECT
        @firstname, @lastname, @address1, NULLIF(@address2, ''), @city, NULLIF(@state, ''), @zip, @country, @region,
        @email, @phone, @creditcardtype, @creditcard, @creditcardexpiration, @username, @password, @age, @income, @gender
    WHERE NOT EXISTS (SELECT 1 FROM CUSTOMERS WHERE USERNAME = @username);
    SELECT CASE @@ROWCOUNT WHEN 0 THEN 0 ELSE CAST(SCOPE_IDENTITY() AS int) END AS CUSTOMERID;
END TRY
BEGIN CATCH
    IF ERROR_NUMBER() IN (2601, 2627) -- duplicate key
        SELECT 0 AS CUSTOMERID;
    ELSE
        THROW;
END CATCH;
GO
-- name: create procedure DS2_BROWSE_BY_CATEGORY
CREATE PROCEDURE DS2_BROWSE_BY_CATEGORY
    @batch_size int, @category tinyint
AS
SET NOCOUNT ON;
SELECT TOP (@batch_size) PROD_ID, CATEGORY, TITLE, ACTOR, PRICE, SPECIAL, COMMON_PROD_ID
FROM PRODUCTS
WHERE CATEGORY = @category AND SPECIAL = 1;
GO
-- The two browses by full text take a phrase, as DS2 does: its words in their order, next to each other. The quotes keep any
-- character of it from being read as an operator.
-- name: create procedure DS2_BROWSE_BY_ACTOR
CREATE PROCEDURE DS2_BROWSE_BY_ACTOR
    @batch_size int, @actor varchar(100)
AS
SET NOCOUNT ON;
DECLARE @phrase varchar(102) = '"' + REPLACE(@actor, '"', '') + '"';
SELECT TOP (@batch_size) PROD_ID, CATEGORY, TITLE, ACTOR, PRICE, SPECIAL, COMMON_PROD_ID
FROM PRODUCTS WITH (FORCESEEK)
WHERE CONTAINS(ACTOR, @phrase);
GO
-- name: create procedure DS2_BROWSE_BY_TITLE
CREATE PROCEDURE DS2_BROWSE_BY_TITLE
    @batch_size int, @title varchar(100)
AS
SET NOCOUNT ON;
DECLARE @phrase varchar(102) = '"' + REPLACE(@title, '"', '') + '"';
SELECT TOP (@batch_size) PROD_ID, CATEGORY, TITLE, ACTOR, PRICE, SPECIAL, COMMON_PROD_ID
FROM PRODUCTS WITH (FORCESEEK)
WHERE CONTAINS(TITLE, @phrase);
GO
-- The id of the new order, or 0 where a product's stock fell short and nothing was bought. The stock is checked and
-- lowered in one statement, so no update is lost; it is the last one, so the rows that many buyers want are locked for
-- the shortest time; and the loop join takes the products in key order, so two carts never wait for each other.
-- name: create procedure DS2_PURCHASE
CREATE PROCEDURE DS2_PURCHASE
    @customerid int, @number_items int,
    @netamount decimal(12, 2), @taxamount decimal(12, 2), @totalamount decimal(12, 2),
    @prod_id0 int = 0, @qty0 smallint = 0, @prod_id1 int = 0, @qty1 smallint = 0,
    @prod_id2 int = 0, @qty2 smallint = 0, @prod_id3 int = 0, @qty3 smallint = 0,
    @prod_id4 int = 0, @qty4 smallint = 0, @prod_id5 int = 0, @qty5 smallint = 0,
    @prod_id6 int = 0, @qty6 smallint = 0, @prod_id7 int = 0, @qty7 smallint = 0,
    @prod_id8 int = 0, @qty8 smallint = 0, @prod_id9 int = 0, @qty9 smallint = 0
AS
SET NOCOUNT ON;
SET XACT_ABORT ON;
IF @number_items NOT BETWEEN 1 AND 10
    THROW 50001, 'PURCHASE takes 1 to 10 items', 1;
DECLARE @today datetime = GETDATE(), @orderid int, @sold int;
BEGIN TRY
    BEGIN TRANSACTION;

    INSERT INTO ORDERS (ORDERDATE, CUSTOMERID, NETAMOUNT, TAX, TOTALAMOUNT)
    VALUES (@today, @customerid, @netamount, @taxamount, @totalamount);
    SET @orderid = SCOPE_IDENTITY();

    INSERT INTO ORDERLINES (ORDERLINEID, ORDERID, PROD_ID, QUANTITY, ORDERDATE)
    SELECT c.LINE, @orderid, c.PROD_ID, c.QUANTITY, @today
    FROM (VALUES
        (1, @prod_id0, @qty0), (2, @prod_id1, @qty1), (3, @prod_id2, @qty2), (4, @prod_id3, @qty3), (5, @prod_id4, @qty4),
        (6, @prod_id5, @qty5), (7, @prod_id6, @qty6), (8, @prod_id7, @qty7), (9, @prod_id8, @qty8), (10, @prod_id9, @qty9)
    ) AS c (LINE, PROD_ID, QUANTITY)
    WHERE c.LINE <= @number_items;

    INSERT INTO CUST_HIST (CUSTOMERID, ORDERID, PROD_ID)
    SELECT @customerid, ORDERID, PROD_ID FROM ORDERLINES WHERE ORDERID = @orderid;

    UPDATE i
    SET QUAN_IN_STOCK = i.QUAN_IN_STOCK - c.QUANTITY, SALES = i.SALES + c.QUANTITY
    FROM (
        SELECT TOP (10) PROD_ID, SUM(QUANTITY) AS QUANTITY
        FROM ORDERLINES
        WHERE ORDERID = @orderid
        GROUP BY PROD_ID
        ORDER BY PROD_ID
    ) AS c
    INNER LOOP JOIN INVENTORY AS i ON i.PROD_ID = c.PROD_ID
    WHERE i.QUAN_IN_STOCK >= c.QUANTITY;
    SET @sold = @@ROWCOUNT;

    IF @sold = (SELECT COUNT(DISTINCT PROD_ID) FROM ORDERLINES WHERE ORDERID = @orderid)
        COMMIT TRANSACTION;
    ELSE
    BEGIN
        ROLLBACK TRANSACTION;
        SET @orderid = 0;
    END;
    SELECT @orderid AS ORDERID;
END TRY
BEGIN CATCH
    IF XACT_STATE() <> 0 ROLLBACK TRANSACTION;
    THROW;
END CATCH;
GO
-- Keeps the rate of rollbacks constant: where a purchase leaves fewer than 3 pieces of a product, it notes that in
-- REORDER and puts the quantity from before the purchase back. Right for any number of rows in one statement; its own
-- update only raises the stock, so where RECURSIVE_TRIGGERS is on it ends there. A database
-- that DVD Store's own scripts made has their trigger, which stays.
-- name: create trigger DS2_RESTOCK; table: inventory
IF NOT EXISTS (SELECT 1 FROM sys.triggers WHERE parent_id = OBJECT_ID('INVENTORY'))
    EXEC('
CREATE TRIGGER DS2_RESTOCK ON INVENTORY AFTER UPDATE
AS
SET NOCOUNT ON;
INSERT INTO REORDER (PROD_ID, DATE_LOW, QUAN_LOW)
SELECT n.PROD_ID, GETDATE(), n.QUAN_IN_STOCK
FROM inserted AS n
JOIN deleted AS o ON o.PROD_ID = n.PROD_ID
WHERE n.QUAN_IN_STOCK < 3 AND n.QUAN_IN_STOCK < o.QUAN_IN_STOCK;
IF @@ROWCOUNT = 0 RETURN;
UPDATE i
SET QUAN_IN_STOCK = o.QUAN_IN_STOCK
FROM INVENTORY AS i
JOIN inserted AS n ON n.PROD_ID = i.PROD_ID
JOIN deleted AS o ON o.PROD_ID = n.PROD_ID
WHERE n.QUAN_IN_STOCK < 3 AND n.QUAN_IN_STOCK < o.QUAN_IN_STOCK;
');
