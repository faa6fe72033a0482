package monitor

import (
	"reflect"
	"testing"
	"time"
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
		why   string
		table *Table
		want  []Checkpoint
		known bool
	}{
		{"nobody observed the database", table([]string{"cpu.busy_ratio"}, []float64{1}), nil, false},
		{"none began", table([]string{"db.checkpoints_per_second", "db.checkpoint_pages_per_second"},
			[]float64{0, 0, 0}, []float64{0, 0, 0}), nil, true},
		{"PostgreSQL counts them; one that was under way before is not one that began",
			table([]string{"db.checkpoints_per_second", "db.checkpoint_pages_per_second"},
				[]float64{0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0}, []float64{9, 0, 5, 5, 0, 5, 0, 0, 0, 7, 0}),
			[]Checkpoint{{From: 2, To: 6}, {From: 9, To: 10}}, true},
		{"SQL Server counts their pages; a short pause ends none",
			table([]string{"db.checkpoint_pages_per_second"}, []float64{0, 5, 5, 0, 0, 5, 0, 0, 0, 0, 0, 0, 3, 0}),
			[]Checkpoint{{From: 1, To: 6}, {From: 12, To: 13}}, true},
		{"of several databases each has its own",
			table([]string{"db.a/ds2.checkpoint_pages_per_second", "db.b/ds2.checkpoint_pages_per_second"},
				[]float64{0, 0, 1, 0}, []float64{1, 0, 0, 0}),
			[]Checkpoint{{Target: "b/ds2", From: 0, To: 1}, {Target: "a/ds2", From: 2, To: 3}}, true},
	} {
		if got, known := c.table.Checkpoints(start); known != c.known || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, known %t; want %v", c.why, got, known, c.want)
		}
	}
}
