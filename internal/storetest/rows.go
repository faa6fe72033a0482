package storetest

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"ds2/internal/store"

	"github.com/stretchr/testify/require"
)

// Rows are those of a query in one form on all engines, with a text for NULL.
func Rows(t testing.TB, db *sql.DB, null, query string) (lines []string) {
	t.Helper()
	err := store.EachRow(t.Context(), db, store.MaxListed, query, func(rows *sql.Rows) error {
		types, err := rows.ColumnTypes()
		if err != nil {
			return err
		}
		values := make([]any, len(types))
		into := make([]any, len(types))
		fields := make([]string, len(types))
		for i := range values {
			into[i] = &values[i]
		}
		err = rows.Scan(into...)
		for i, v := range values {
			switch fields[i] = formatField(v); {
			case v == nil:
				fields[i] = null
			case types[i].DatabaseTypeName() == "MONEY": // has four places
				fields[i] = strings.TrimSuffix(fields[i], "00")
			case strings.EqualFold(types[i].Name(), "zip"): // a number on SQL Server
				fields[i] = fmt.Sprintf("%05s", fields[i])
			}
		}
		lines = append(lines, strings.Join(fields, ","))
		return err
	})
	require.NoError(t, err, query)
	return lines
}

func formatField(value any) string {
	switch v := value.(type) {
	case []byte:
		return string(v)
	case time.Time:
		return v.Format("2006/01/02")
	}
	return fmt.Sprint(value)
}
