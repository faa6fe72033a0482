package sampling

import (
	"cmp"
	"slices"
	"time"
)

// Checkpoint is a checkpoint that a database server made, in seconds since the first orders.
type Checkpoint struct {
	Server string  `json:"server,omitempty"` // where there are several
	From   float64 `json:"from_s"`           // to the second before it showed
	To     float64 `json:"to_s"`             // when its last pages were written
}

// pagesPause is how long no pages may be written within one checkpoint, where only pages are
// counted.
const pagesPause = 5 * time.Second

// Checkpoints are those that the counters show, in the order in which they began, and of how many
// servers they tell; seconds count from start.
func (t *Table) Checkpoints(start time.Time) (all []Checkpoint, servers int) {
	for _, column := range t.Items(DatabaseCheckpointPages) {
		servers++
		_, item := SplitColumn(column)
		place := slices.Index(t.Columns, column)
		pages := t.Values(column)
		begun := t.Values(ItemColumn(DatabaseCheckpoints, item)) // SQL Server counts pages only
		var own []Checkpoint
		var written time.Time // when pages were last seen
		for i, row := range t.Rows {
			at := row.Time.Sub(start).Seconds()
			wrote := pages[i] > 0
			starts := wrote && row.Time.Sub(written) > pagesPause
			if begun != nil {
				starts = begun[i] > 0
			}
			switch {
			case starts:
				own = append(own, Checkpoint{Server: item, From: at - row.Covered(place), To: at})
			case wrote && len(own) > 0:
				own[len(own)-1].To = at
			}
			if wrote {
				written = row.Time
			}
		}
		all = append(all, own...)
	}
	slices.SortStableFunc(all, func(a, b Checkpoint) int { return cmp.Compare(a.From, b.From) })
	return all, servers
}
