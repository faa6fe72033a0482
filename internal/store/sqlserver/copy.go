package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store/sqlserver/target"
	"ds2/schema"
)

// bulk brings the rows that in holds into a table, by the protocol's bulk load. Keys keep the values that the rows
// bring. The table is locked as a whole, which is what lets SQL Server log pages and not rows.
func (s *Store) bulk(ctx context.Context, conn *mssql.Conn, table string, in io.Reader, as format) (int64, error) {
	server, err := s.ask(ctx)
	if err != nil {
		return 0, err
	}
	columns, err := columnsOf(ctx, conn, table)
	if err != nil {
		return 0, err
	}
	next, err := as(in, columns)
	if err != nil {
		return 0, err
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	bulk := conn.CreateBulkContext(ctx, table, names)
	bulk.Options.Tablock = true
	if key, ok := schema.ClusteredKey[strings.ToLower(table)]; ok && !server.babelfish {
		bulk.Options.Order = []string{key}
	}
	sent, err := eachRow(len(columns), next, bulk.AddRow)
	if err != nil {
		return 0, err
	}
	copied, err := bulk.Done()
	if err == nil && copied != sent {
		err = fmt.Errorf("the server took %d of %d rows", copied, sent)
	}
	return copied, err
}

// columnsOf asks the server for a table's columns, which stand in the order of the CSV files.
func columnsOf(ctx context.Context, conn *mssql.Conn, table string) ([]column, error) {
	stmt, err := conn.PrepareContext(ctx, "SELECT * FROM "+target.QuoteName(table)+" WHERE 1 = 0")
	if err != nil {
		return nil, err
	}
	answer, err := stmt.(*mssql.Stmt).QueryContext(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	rows := answer.(*mssql.Rows)
	var columns []column
	for i, name := range rows.Columns() {
		c := column{name: name, kind: rows.ColumnTypeDatabaseTypeName(i)}
		c.nullable, _ = rows.ColumnTypeNullable(i)
		columns = append(columns, c)
	}
	if err := rows.Next(make([]driver.Value, len(columns))); err != io.EOF {
		return nil, fmt.Errorf("read the columns: %w", err)
	}
	return columns, nil
}
