-- The dataset, from files that the server itself reads: each file is one transaction, whose rows are all there or not at
-- all. The table is locked as a whole, which is what lets the server log pages and not rows, and the order of the rows is
-- that of the clustered key, so nothing is sorted. Fields have neither quotes nor characters beyond ASCII: FORMAT = 'CSV'
-- is not needed, nor CODEPAGE, which servers on Linux long did not take. An empty field is NULL where the column may be. Of rows
-- that cannot be read the server would leave out up to ten without a word, so none is allowed, and the rows are counted.
{{- $o := .Layout}}
{{- range $i, $file := $o.Files}}
{{- if $i}}
GO
{{- end}}
-- name: {{.Name}}; table: {{.Table}}; rows: {{.Rows}}
SET DATEFORMAT ymd; -- whatever the login's language: dates stand as 2009/12/31
SET XACT_ABORT ON;
BEGIN TRANSACTION;
BULK INSERT {{upper .Table}}
FROM {{str (join $o.FilesDir .Name)}}
WITH (
    FIELDTERMINATOR = ',', ROWTERMINATOR = '{{if $o.CRLF}}0x0d0a{{else}}0x0a{{end}}', {{if eq .Table "customers" "orders" "products"}}KEEPIDENTITY, {{end}}KEEPNULLS, MAXERRORS = 0,
    TABLOCK, ROWS_PER_BATCH = {{.Rows}}{{with clusteredKey .Table}}, ORDER ({{.}}){{end}}
);
IF @@ROWCOUNT <> {{.Rows}} THROW 50002, {{str (printf "%s does not hold the %d rows of its manifest" .Name .Rows)}}, 1;
COMMIT TRANSACTION;
{{- end}}
