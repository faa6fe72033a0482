-- step: what the planner goes by.

ANALYZE customers;

ANALYZE orders;

ANALYZE orderlines;

ANALYZE cust_hist;

ANALYZE products;

ANALYZE inventory;

ANALYZE categories;
