package sampling

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestCheckpoints(t *testing.T) {
	start := time.Unix(1000, 0)
	// table has a row a second from start+1s on.
	table := func(columns []string, values ...[]float64) *Table {
		table := &Table{Columns: columns}
		for i := range values[0] {
			row := Row{Time: start.Add(time.Duration(i+1) * time.Second)}
			for _, column := range values {
				row.Values = append(row.Values, column[i])
			}
			table.Rows = append(table.Rows, row)
		}
		return table
	}
	for _, c := range []struct {
		why     string
		table   *Table
		want    []Checkpoint
		servers int
	}{
		{
			"a database that was not observed", table([]string{"cpu.busy_ratio"}, []float64{1}),
			nil, 0,
		},
		{"none began", table([]string{DatabaseCheckpoints, DatabaseCheckpointPages},
			[]float64{0, 0, 0}, []float64{0, 0, 0}), nil, 1},
		{
			"PostgreSQL counts them; one that was under way before is not one that began",
			table([]string{DatabaseCheckpoints, DatabaseCheckpointPages},
				[]float64{0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0}, []float64{9, 0, 5, 5, 0, 5, 0, 0, 0, 7, 0}),
			[]Checkpoint{{From: 2, To: 6}, {From: 9, To: 10}},
			1,
		},
		{
			"SQL Server counts their pages; a short pause ends none",
			table(
				[]string{"db.checkpoint_pages_per_second"},
				[]float64{0, 5, 5, 0, 0, 5, 0, 0, 0, 0, 0, 0, 3, 0},
			),
			[]Checkpoint{{From: 1, To: 6}, {From: 12, To: 13}},
			1,
		},
		{
			"of several servers each has its own",
			table([]string{"db.a.checkpoint_pages_per_second", "db.b.checkpoint_pages_per_second"},
				[]float64{0, 0, 1, 0}, []float64{1, 0, 0, 0}),
			[]Checkpoint{{Server: "b", From: 0, To: 1}, {Server: "a", From: 2, To: 3}},
			2,
		},
	} {
		got, servers := c.table.Checkpoints(start)
		assert.Equal(t, c.want, got, c.why)
		assert.Equal(t, c.servers, servers, c.why)
	}
}
