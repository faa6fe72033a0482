package sqlserver

import (
	"context"
	"database/sql/driver"
	"fmt"
	"io"
	"strings"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/schema"
)

// rows are what a bulk load takes, one by one.
type rows interface {
	// next is the next row, which is valid until next is called again; io.EOF after the last.
	next() ([]any, error)
	// count is how many there were.
	count() int64
}

// bulkLoad streams rows of CSV into a table by the protocol's bulk load. Keys keep the values that the rows bring. An empty
// field is NULL in a column that may be, an empty text in another.
func (s *Store) bulkLoad(ctx context.Context, conn *mssql.Conn, table string, csv io.Reader) (int64, error) {
	return s.bulk(ctx, conn, table, func(columns []column) (rows, error) { return newRowReader(csv, columns) })
}

// bulk brings the rows that read makes for a table's columns. The table is locked as a whole, which is what lets SQL Server log
// pages and not rows.
func (s *Store) bulk(ctx context.Context, conn *mssql.Conn, table string, read func([]column) (rows, error)) (int64, error) {
	server, err := s.ask(ctx)
	if err != nil {
		return 0, err
	}
	columns, err := columnsOf(ctx, conn, table)
	if err != nil {
		return 0, err
	}
	reader, err := read(columns)
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
	for {
		row, err := reader.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, err
		}
		if err := bulk.AddRow(row); err != nil {
			return 0, err
		}
	}
	copied, err := bulk.Done()
	if err == nil && copied != reader.count() {
		err = fmt.Errorf("the server took %d of %d rows", copied, reader.count())
	}
	return copied, err
}

// columnsOf asks the server for a table's columns, which stand in the order of the CSV files.
func columnsOf(ctx context.Context, conn *mssql.Conn, table string) ([]column, error) {
	stmt, err := conn.PrepareContext(ctx, "SELECT * FROM "+mssql.TSQLQuoter{}.ID(table)+" WHERE 1 = 0")
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
