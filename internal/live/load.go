package live

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"ds2/datagen"
	"ds2/internal/progress"
	"ds2/internal/report"
	"ds2/schema"
)

// Load follows a load as its load.Progress, for the page and for Prometheus.
type Load struct {
	start time.Time

	mu          sync.Mutex
	rows, bytes map[datagen.Table]int64 // that the server has taken
	earlier     int64                   // of the rows, those that an unfinished load had copied

	tell     progress.Tell // is told too
	estimate *progress.Estimate
}

// NewLoad follows a load that begins now. What it is told of its progress it tells another.
func NewLoad(tell progress.Tell) *Load {
	return &Load{
		start:    time.Now(),
		rows:     map[datagen.Table]int64{},
		bytes:    map[datagen.Table]int64{},
		tell:     tell,
		estimate: progress.NewEstimate(),
	}
}

// Copied counts rows and bytes that the server has taken into a table; no bytes are of rows that an
// unfinished load had copied.
func (l *Load) Copied(table datagen.Table, rows, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows[table] += rows
	l.bytes[table] += bytes
	if bytes == 0 {
		l.earlier += rows
	}
}

// Statement is not shown: Tell names what goes on.
func (l *Load) Statement(schema.Phase, string, bool) {}

// Tell notes how far the load is, and estimates the time left from it.
func (l *Load) Tell(doing string, done, total int64) {
	l.tell(doing, done, total)
	l.estimate.Tell(doing, done, total)
}

// Tables calls f with how many rows and bytes of each table have been handed to the server so far.
func (l *Load) Tables(f func(table string, rows, bytes int64)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for table, rows := range l.rows {
		f(string(table), rows, l.bytes[table])
	}
}

// sum is what has been loaded of all tables, by this load and by an unfinished one before it.
func (l *Load) sum() (rows, bytes, earlier float64) {
	l.Tables(func(_ string, ofTable, bytesOfTable int64) {
		rows += float64(ofTable)
		bytes += float64(bytesOfTable)
		earlier = float64(l.earlier) // Tables has the lock
	})
	return rows, bytes, earlier
}

// Show is what the page of a load draws now, under a title.
func (l *Load) Show(title string) Show {
	second := 0 // of the last values
	at := l.start
	var rowsShown, bytesShown float64 // by this load, up to then
	rowsChart := report.NewLiveChart("live-rows", "Rows loaded",
		"Rows handed to the server in each second.", "rows/s", false, "rows a second")
	bytesChart := report.NewLiveChart("live-bytes", "Bytes loaded",
		"Bytes of CSV handed to the server in each second.", "MB/s", false, "MB a second")
	return Show{
		Title:  title,
		Since:  "time since the load began",
		Charts: []report.LiveChart{rowsChart, bytesChart},
		Now: func() Frame {
			now := time.Now()
			rows, bytes, earlier := l.sum()
			s := l.estimate.State()
			f := Frame{Headline: "loading"}
			f.Phase, f.Doing, _ = strings.Cut(s.Doing, ", ") // the statements that run
			if s.Total > 0 {
				f.Share = new(s.Share())
				f.Left = s.TimeLeft()
				f.Headline = fmt.Sprintf("%d %%", int(100*s.Share()))
			}
			f.Facts = []Fact{
				fact("rows", rows, 0),
				fact("MB of CSV", bytes/1e6, 0),
			}
			if passed := int(now.Sub(l.start).Seconds()); passed > second {
				// What an unfinished load had copied came at no rate of this one.
				took := now.Sub(at).Seconds()
				f.Values = []*float64{
					report.Digits((rows - earlier - rowsShown) / took),
					report.Digits((bytes - bytesShown) / took / 1e6),
				}
				rowsShown = rows - earlier
				bytesShown = bytes
				second = passed
				at = now
			}
			f.At = float64(second)
			return f
		},
	}
}
