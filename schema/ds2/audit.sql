{{- /* The questions of the audit, in SQL that every engine takes: see package internal/workload/ds2/audit. Conditions on
orders are made there. COUNT(*) is a number of 32 bits on some engines. */ -}}

{{define "count"}}SELECT COALESCE(SUM(CAST(1 AS bigint)), 0) FROM {{end}}

{{define "highest keys"}}SELECT COALESCE((SELECT MAX(customerid) FROM customers), 0), COALESCE((SELECT MAX(orderid) FROM orders), 0){{end}}

{{/* The term of a purchased product in a print: of one table the order and product, of another the customer. Numbers of 32
bits do not make it overflow 64. */}}
{{define "history print"}}({{index . 0}}.orderid * CAST(433494437 AS bigint) + {{index . 0}}.prod_id * CAST(479001599 AS bigint)
	+ {{index . 1}}.customerid * CAST(370248451 AS bigint)) % 2147483579
	* ({{index . 0}}.prod_id + CAST({{index . 1}}.customerid AS bigint)) % 2147483579{{end}}

{{/* What a sold piece of a product counts for. */}}
{{define "product print"}}{{.}}.prod_id * CAST({{.}}.prod_id AS bigint) % 2147483579{{end}}

{{define "all sales"}}COALESCE(SUM(i.sales * ({{template "product print" "i"}}) % 2147483579), 0){{end}}

{{define "sales"}}SELECT {{template "all sales"}} FROM inventory i{{end}}

{{define "inventory"}}SELECT COUNT(*), COALESCE(SUM(CASE WHEN i.quan_in_stock < 0 THEN 1 ELSE 0 END), 0),
	{{template "all sales"}} FROM inventory i{{end}}

{{define "products"}}SELECT COUNT(*), COALESCE(SUM(CASE WHEN prod_id BETWEEN 1 AND {{.Products}} THEN 1 ELSE 0 END), 0) FROM products{{end}}

{{define "customers"}}{{template "count"}}customers WHERE {{.Where}}{{end}}

{{define "orders"}}{{template "count"}}orders WHERE {{.Where}}{{end}}

{{define "categories"}}SELECT COUNT(*), COALESCE(SUM(CASE category
	{{- range $i, $name := .Categories}} WHEN {{$i}} + 1 THEN CASE WHEN categoryname = '{{$name}}' THEN 0 ELSE 1 END{{end}} ELSE 1 END), 0)
FROM categories{{end}}

{{/* Rows c without a parent p. */}}
{{define "orphans"}}{{template "count"}}{{.Key.Table}} c WHERE {{.Where}}
	AND NOT EXISTS (SELECT 1 FROM {{.Key.Parent}} p WHERE p.{{.Key.ParentColumn}} = c.{{.Key.Column}}){{end}}

{{define "disagreeing"}}{{template "count"}}(SELECT orderid, prod_id FROM (
	SELECT orderid, prod_id, 1 AS n FROM orderlines c WHERE {{.Where}}
	UNION ALL SELECT orderid, prod_id, -1 FROM cust_hist c WHERE {{.Where}}) x
	GROUP BY orderid, prod_id HAVING SUM(n) <> 0) y{{end}}

{{define "another's"}}{{template "count"}}cust_hist c JOIN orders o ON o.orderid = c.orderid AND {{.WhereOrders}}
	WHERE {{.Where}} AND (o.customerid IS NULL OR c.customerid <> o.customerid){{end}}

{{/* Orders whose customer neither the dataset has nor anyone since. */}}
{{define "strangers"}}SELECT c.orderid FROM orders c WHERE {{.Where}}
	AND (c.customerid IS NULL OR c.customerid NOT BETWEEN 1 AND {{.Customers}} AND NOT EXISTS (SELECT 1 FROM customers p
		WHERE p.customerid = c.customerid AND p.customerid NOT BETWEEN 1 AND {{.Customers}})) ORDER BY c.orderid{{end}}

{{/* The one question that needs every order line, sorted by product. */}}
{{define "unsound sales"}}{{template "count"}}inventory i LEFT JOIN
	(SELECT prod_id, SUM(CAST(quantity AS bigint)) AS quantity FROM orderlines GROUP BY prod_id) l
	ON l.prod_id = i.prod_id WHERE i.sales <> COALESCE(l.quantity, 0){{end}}

{{/* Stock, sales, and by how much reorders filled the stock up. */}}
{{define "stock"}}SELECT i.prod_id, i.quan_in_stock, i.sales, COALESCE(r.filled, 0) FROM inventory i LEFT JOIN
	(SELECT prod_id, SUM(CASE WHEN prod_id % 10000 = 0 THEN 2500 ELSE 250 END - CAST(quan_low AS bigint)) AS filled
		FROM reorder GROUP BY prod_id) r ON r.prod_id = i.prod_id{{end}}

{{/* Orders, those whose customer the dataset does not have, and those since computed with a wrong tax or a wrong total: the
dataset's own amounts are drawn at random (WORKLOAD.md section 3). Number and total cents of the orders of a run. */}}
{{define "pass over orders"}}SELECT COALESCE(SUM(CAST(1 AS bigint)), 0),
	COALESCE(SUM(CASE WHEN customerid BETWEEN 1 AND {{.Customers}} THEN 0 ELSE 1 END), 0),
	COALESCE(SUM(CASE WHEN orderid > {{.Computed}}
		AND ABS(CAST(tax AS decimal(19, 6)) - CAST(netamount AS decimal(19, 6)) * 0.0825) > 0.005
		THEN 1 ELSE 0 END), 0),
	COALESCE(SUM(CASE WHEN orderid > {{.Computed}} AND totalamount <> netamount + tax THEN 1 ELSE 0 END), 0),
	COALESCE(SUM(CASE WHEN orderid > {{.Run.From}} AND orderid <= {{.Run.To}} THEN 1 ELSE 0 END), 0),
	COALESCE(SUM(CASE WHEN orderid > {{.Run.From}} AND orderid <= {{.Run.To}}
		THEN CAST(totalamount * 100 AS bigint) ELSE 0 END), 0)
FROM orders WHERE {{.Where}}{{end}}

{{/* Orders with lines, lines without an order, orders with misnumbered lines, lines whose product the dataset does not
have, lines with an order, and orders since computed with a wrong net; the prints of the lines with an order as history
and of all as sales. */}}
{{define "pass over lines"}}SELECT COALESCE(SUM(CASE WHEN parent IS NULL THEN 0 ELSE 1 END), 0),
	COALESCE(SUM(CASE WHEN parent IS NULL THEN CAST(n AS bigint) ELSE 0 END), 0),
	COALESCE(SUM(CASE WHEN lowest <> 1 OR highest <> n THEN 1 ELSE 0 END), 0),
	COALESCE(SUM(strays), 0),
	COALESCE(SUM(CASE WHEN parent IS NULL THEN 0 ELSE CAST(n AS bigint) END), 0),
	COALESCE(SUM(CASE WHEN orderid > {{.Computed}} AND netamount <> net THEN 1 ELSE 0 END), 0),
	COALESCE(SUM(history), 0),
	COALESCE(SUM(sold), 0)
FROM (SELECT l.orderid, MAX(o.orderid) AS parent, COUNT(*) AS n,
	MIN(l.orderlineid) AS lowest, MAX(l.orderlineid) AS highest,
	SUM(CASE WHEN l.prod_id BETWEEN 1 AND {{.Products}} THEN 0 ELSE 1 END) AS strays,
	CAST(SUM({{template "history print" (list "l" "o")}}) AS bigint) AS history,
	CAST(SUM(l.quantity * ({{template "product print" "l"}})) AS bigint) AS sold,
	{{if .New}}MAX(o.netamount) AS netamount, SUM(p.price * l.quantity) AS net{{else}}0 AS netamount, 0 AS net{{end}}
	FROM orderlines l LEFT JOIN orders o ON o.orderid = l.orderid AND {{.WhereOrders}}
	{{- if .New}} LEFT JOIN products p ON p.prod_id = l.prod_id{{end}}
	WHERE {{.WhereLines}} GROUP BY l.orderid) x{{end}}

{{/* Number and print of rows of CUST_HIST, apart for each part of so many orders above one. */}}
{{define "pass over history"}}SELECT {{template "part" .}} AS part, SUM(CAST(1 AS bigint)), COALESCE(SUM({{template "history print" (list "h" "h")}}), 0)
	FROM cust_hist h WHERE {{.Where}} AND h.orderid IS NOT NULL GROUP BY {{template "part" .}}{{end}}
{{define "part"}}(h.orderid - {{.First}}) / {{.PartOrders}}{{end}}

{{define "title or actor"}}SELECT p.{{.Column}}, COUNT(*) FROM products p JOIN products k ON k.{{.Column}} = p.{{.Column}}
	WHERE k.prod_id = (SELECT MAX(prod_id) FROM products) GROUP BY p.{{.Column}}{{end}}

{{/* Rows of the dataset, and a sum of terms in which rows, or values that changed places, hardly agree. */}}
{{define "dataset rows"}}SELECT COALESCE(SUM(CAST(1 AS bigint)), 0), COALESCE(CAST(SUM({{.Term}}) % 2147483579 AS bigint), 0)
	FROM {{.Table}} t WHERE {{.Where}}{{end}}
{{define "dataset rows by key"}}SELECT t.{{.Column}}, SUM(CAST(1 AS bigint)), CAST(SUM({{.Term}}) % 2147483579 AS bigint)
	FROM {{.Table}} t WHERE {{.Where}} GROUP BY t.{{.Column}} ORDER BY t.{{.Column}}{{end}}

{{define "term of customers"}}{{.Hash}}{{end}}
{{define "term of products"}}{{.Hash}} + (t.prod_id * CAST(433494437 AS bigint) + CAST(t.price * 10000 AS bigint) * 7654321) % 2147483579{{end}}
{{define "term of orders"}}(t.orderid * CAST(433494437 AS bigint) + COALESCE(t.customerid, 0) * CAST(370248451 AS bigint)
		+ (t.orderdate - DATE '1970-01-01') * CAST(7654321 AS bigint)) % 1000003
	* ((CAST(t.netamount * 10000 AS bigint) % 1000003 * 479001 + CAST(t.tax * 10000 AS bigint) % 1000003 * 1234567
		+ CAST(t.totalamount * 10000 AS bigint) % 1000003 * 123457) % 1000003){{end}}
{{define "term of orderlines"}}(t.orderid * CAST(433494437 AS bigint) + t.prod_id * CAST(479001599 AS bigint)
		+ (t.orderdate - DATE '1970-01-01') * CAST(7654321 AS bigint)) % 1000003
	* (t.orderlineid * 1009 + t.quantity * CAST(32003 AS bigint)){{end}}

{{/* Orders above one number, with their customers, totals in hundredths and numbers of lines, for a journal to be compared with. */}}
{{define "orders of a run"}}SELECT o.orderid, COALESCE(o.customerid, 0), CAST(o.totalamount * 100 AS bigint),
	(SELECT COUNT(*) FROM orderlines l WHERE l.orderid = o.orderid)
FROM orders o WHERE o.orderid > {{.}} ORDER BY o.orderid{{end}}

{{define "customers of a run"}}SELECT customerid, username FROM customers WHERE customerid > {{.}}{{end}}
