-- The tables of DS2 with their clustered keys: the data comes in key order, so nothing is ever sorted or written twice,
-- which building them afterwards would do, and the files would need room for it. Columns stand in the order of the CSV
-- files. An empty CSV field is NULL, which only nullable columns have (ADDRESS2 always, STATE outside the US).

{{template "notes" on . "DS_MISC_FG"}}
GO
-- name: create table categories; table: categories
CREATE TABLE CATEGORIES (
    CATEGORY     tinyint     NOT NULL CONSTRAINT PK_CATEGORIES PRIMARY KEY CLUSTERED,
    CATEGORYNAME varchar(50) NOT NULL
){{on . "DS_MISC_FG"}};
INSERT INTO CATEGORIES (CATEGORY, CATEGORYNAME) VALUES
    (1, 'Action'), (2, 'Animation'), (3, 'Children'), (4, 'Classics'), (5, 'Comedy'), (6, 'Documentary'), (7, 'Drama'),
    (8, 'Family'), (9, 'Foreign'), (10, 'Games'), (11, 'Horror'), (12, 'Music'), (13, 'New'), (14, 'Sci-Fi'),
    (15, 'Sports'), (16, 'Travel');
GO
-- name: create table customers; table: customers
CREATE TABLE CUSTOMERS (
    CUSTOMERID           int IDENTITY NOT NULL CONSTRAINT PK_CUSTOMERS PRIMARY KEY CLUSTERED,
    FIRSTNAME            varchar(50)  NOT NULL,
    LASTNAME             varchar(50)  NOT NULL,
    ADDRESS1             varchar(50)  NOT NULL,
    ADDRESS2             varchar(50)  NULL,
    CITY                 varchar(50)  NOT NULL,
    STATE                varchar(50)  NULL,
    ZIP                  int          NULL,
    COUNTRY              varchar(50)  NOT NULL,
    REGION               tinyint      NOT NULL,
    EMAIL                varchar(50)  NULL,
    PHONE                varchar(50)  NULL,
    CREDITCARDTYPE       tinyint      NOT NULL,
    CREDITCARD           varchar(50)  NOT NULL,
    CREDITCARDEXPIRATION varchar(50)  NOT NULL,
    USERNAME             varchar(50)  NOT NULL,
    PASSWORD             varchar(50)  NOT NULL,
    AGE                  tinyint      NULL,
    INCOME               int          NULL,
    GENDER               char(1)      NULL
){{on . "DS_CUST_FG"}};
GO
-- name: create table cust_hist; table: cust_hist
CREATE TABLE CUST_HIST (
    CUSTOMERID int NOT NULL,
    ORDERID    int NOT NULL,
    PROD_ID    int NOT NULL
){{on . "DS_CUST_FG"}};
GO
-- name: create table orders; table: orders
CREATE TABLE ORDERS (
    ORDERID     int IDENTITY NOT NULL CONSTRAINT PK_ORDERS PRIMARY KEY CLUSTERED,
    ORDERDATE   datetime     NOT NULL,
    CUSTOMERID  int          NOT NULL,
    NETAMOUNT   money        NOT NULL,
    TAX         money        NOT NULL,
    TOTALAMOUNT money        NOT NULL
){{on . "DS_ORDERS_FG"}};
GO
-- name: create table orderlines; table: orderlines
CREATE TABLE ORDERLINES (
    ORDERLINEID smallint NOT NULL,
    ORDERID     int      NOT NULL,
    PROD_ID     int      NOT NULL,
    QUANTITY    smallint NOT NULL,
    ORDERDATE   datetime NOT NULL,
    CONSTRAINT PK_ORDERLINES PRIMARY KEY CLUSTERED (ORDERID, ORDERLINEID)
){{on . "DS_ORDERS_FG"}};
GO
-- name: create table products; table: products
CREATE TABLE PRODUCTS (
    PROD_ID        int IDENTITY NOT NULL CONSTRAINT PK_PRODUCTS PRIMARY KEY CLUSTERED,
    CATEGORY       tinyint      NOT NULL,
    TITLE          varchar(50)  NOT NULL,
    ACTOR          varchar(50)  NOT NULL,
    PRICE          money        NOT NULL,
    SPECIAL        tinyint      NOT NULL,
    COMMON_PROD_ID int          NOT NULL
){{on . "DS_MISC_FG"}};
GO
-- name: create table inventory; table: inventory
CREATE TABLE INVENTORY (
    PROD_ID       int NOT NULL CONSTRAINT PK_INVENTORY PRIMARY KEY CLUSTERED,
    QUAN_IN_STOCK int NOT NULL,
    SALES         int NOT NULL
){{on . "DS_MISC_FG"}};
GO
-- name: create table reorder; table: reorder
CREATE TABLE REORDER (
    PROD_ID        int      NOT NULL,
    DATE_LOW       datetime NOT NULL,
    QUAN_LOW       int      NOT NULL,
    DATE_REORDERED datetime NULL,
    QUAN_REORDERED int      NULL,
    DATE_EXPECTED  datetime NULL
){{on . "DS_MISC_FG"}};
{{- template "user" .}}
