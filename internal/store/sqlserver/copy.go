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

// LocksTables says that a load gains nothing by two copies into one table at a time: where there is a clustered key, as
// everywhere but in CUST_HIST, the second would wait.
func (s *Store) LocksTables() {}

// bulkLoad streams rows of CSV into a table by the protocol's bulk load. The table is locked as a whole, which is what lets
// SQL Server log pages and not rows. Keys keep the values that the rows bring. An empty field is NULL in a column that may be,
// an empty text in another.
func (s *Store) bulkLoad(ctx context.Context, conn *mssql.Conn, table string, csv io.Reader) (int64, error) {
	server, err := s.ask(ctx)
	if err != nil {
		return 0, err
	}
	columns, err := columnsOf(ctx, conn, table)
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
	reader := newRowReader(csv, columns)
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
	rows, err := bulk.Done()
	if err == nil && rows != reader.rows {
		err = fmt.Errorf("the server took %d of %d rows", rows, reader.rows)
	}
	return rows, err
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
		c := column{name: name}
		c.nullable, _ = rows.ColumnTypeNullable(i)
		switch kind := rows.ColumnTypeDatabaseTypeName(i); kind {
		case "TINYINT", "SMALLINT", "INT":
			c.parse = parseInt
		case "MONEY":
			c.parse = parseText
		case "DATETIME":
			c.parse = parseDate
		case "VARCHAR", "CHAR":
			c.parse, c.text = parseBytes, true
		default:
			return nil, fmt.Errorf("column %s is of type %s, which the dataset does not have", name, kind)
		}
		columns = append(columns, c)
	}
	if err := rows.Next(make([]driver.Value, len(columns))); err != io.EOF {
		return nil, fmt.Errorf("read the columns: %w", err)
	}
	return columns, nil
}
