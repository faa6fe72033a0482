package sqlserver

import (
	"fmt"
	"time"

	"ds2/datagen"
)

// column is a column of a table that is being loaded.
type column struct {
	name string
	kind string // its type, such as INT
}

// tellEvery is after how many rows a load tells of them.
const tellEvery = 1000

// eachRow hands each row of the parts to take, as go-mssqldb wants it, and counts them.
func eachRow(
	parts []datagen.Part,
	columns []column,
	told func(int64),
	take func([]any) error,
) (n int64, err error) {
	row := make([]any, len(columns))
	for _, part := range parts {
		rows := part.Open()
		for values := rows(); values != nil; values = rows() {
			for i, c := range columns {
				if row[i], err = convertValue(&values[i], c); err != nil {
					return n, err
				}
			}
			if err := take(row); err != nil {
				return n, err
			}
			if n++; n%tellEvery == 0 {
				told(tellEvery)
			}
		}
	}
	told(n % tellEvery)
	return n, nil
}

// convertValue gives a value as the bulk load of go-mssqldb takes it for a column of a type. An
// amount goes as text: as a float64 it would not be exact. This allocates for each value, which go-
// mssqldb does anyway.
func convertValue(v *datagen.Value, c column) (any, error) {
	switch c.kind {
	case "TINYINT", "SMALLINT", "INT", "BIGINT":
		return v.Int, nil
	case "MONEY":
		return fmt.Sprintf("%d.%02d", v.Int/100, v.Int%100), nil
	case "DATETIME":
		return time.Unix(24*60*60*v.Int, 0).UTC(), nil
	case "VARCHAR", "CHAR", "VARBINARY":
		if v.Text == nil {
			return nil, nil
		}
		return v.Text, nil
	}
	return nil, fmt.Errorf("column %s is of type %s, which the dataset does not have",
		c.name, c.kind)
}
