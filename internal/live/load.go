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

	mu     sync.Mutex
	loaded map[datagen.Table]amount
	shown  amount // up to the last values, and by an unfinished load before

	tell     progress.Tell // is told too
	estimate *progress.Estimate
}

type amount struct{ rows, bytes int64 }

// NewLoad follows a load that begins now. What it is told of its progress it tells another.
func NewLoad(tell progress.Tell) *Load {
	return &Load{
		start:    time.Now(),
		loaded:   map[datagen.Table]amount{},
		tell:     tell,
		estimate: progress.NewEstimate(),
	}
}

// Copied counts rows and bytes that the server has taken into a table; no bytes are of rows that an
// unfinished load had copied.
func (l *Load) Copied(table datagen.Table, rows, bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.loaded[table]
	l.loaded[table] = amount{was.rows + rows, was.bytes + bytes}
	if bytes == 0 {
		l.shown.rows += rows
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
	for table, of := range l.loaded {
		f(string(table), of.rows, of.bytes)
	}
}

// sum is what has been loaded of all tables.
func (l *Load) sum() (all amount) {
	l.Tables(func(_ string, rows, bytes int64) {
		all = amount{all.rows + rows, all.bytes + bytes}
	})
	return all
}

// rates are the rows and MB a second since they were asked for, in a time that passed.
func (l *Load) rates(took time.Duration) []*float64 {
	all := l.sum()
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.shown
	l.shown = all
	return []*float64{
		report.Digits(float64(all.rows-was.rows) / took.Seconds()),
		report.Digits(float64(all.bytes-was.bytes) / took.Seconds() / 1e6),
	}
}

// Show is what the page of a load draws now, under a title.
func (l *Load) Show(title string) Show {
	second := 0 // of the last values
	at := l.start
	rows := report.NewLiveChart("live-rows", "Rows loaded",
		"Rows handed to the server in each second.", "rows/s", false, "rows a second")
	bytes := report.NewLiveChart("live-bytes", "Bytes loaded",
		"Bytes of CSV handed to the server in each second.", "MB/s", false, "MB a second")
	return Show{
		Title:  title,
		Since:  "time since the load began",
		Charts: []report.LiveChart{rows, bytes},
		Now: func() Frame {
			now := time.Now()
			all := l.sum()
			s := l.estimate.State()
			f := Frame{Headline: "loading"}
			f.Phase, f.Doing, _ = strings.Cut(s.Doing, ", ") // the statements that run
			if s.Total > 0 {
				f.Share, f.Left = new(s.Share()), s.TimeLeft()
				f.Headline = fmt.Sprintf("%d %%", int(100*s.Share()))
			}
			f.Facts = []Fact{
				fact("rows", float64(all.rows), 0),
				fact("MB of CSV", float64(all.bytes)/1e6, 0),
			}
			if passed := int(now.Sub(l.start).Seconds()); passed > second {
				f.Values = l.rates(now.Sub(at))
				second = passed
				at = now
			}
			f.At = float64(second)
			return f
		},
	}
}
