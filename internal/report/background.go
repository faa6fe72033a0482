package report

import (
	"ds2/internal/result"
)

// scrubTable is what the background scans read.
func scrubTable(s result.Summary) table {
	t := table{Caption: "Background scan, over the whole run", Head: []string{"database", "MB/s asked for", "MB/s read", "requests/s", "bytes a request", "from the drives", "mean ms", "max ms", "passes", "failures"}}
	for _, r := range s.Scrub {
		t.Rows = append(t.Rows, []string{r.Target, number(r.Rate/1e6, 3), number(r.PerSecond()/1e6, 3), number(float64(r.Requests)/max(r.Seconds, 1e-9), 2),
			integer(r.Bytes / max(r.Requests, 1)), fromDrives(r), figureOr(r.MeanMS), figureOr(r.MaxMS), integer(int64(r.Passes)), integer(int64(r.Failures))})
	}
	return t
}

// copyTable is what the readers of the log read that stand for copies.
func copyTable(s result.Summary) table {
	t := table{Caption: "Readers of the log, in place of copies, over the whole run", Head: []string{"database", "MB of the log", "MB/s", "from the drives", "failures"}}
	for _, r := range s.Copies {
		t.Rows = append(t.Rows, []string{r.Target, number(float64(r.Bytes)/1e6, 1), number(r.PerSecond()/1e6, 3), fromDrives(r), integer(int64(r.Failures))})
	}
	return t
}

// fromDrives is the share of what was read that no cache of the kernel had. The kernel reads ahead of what is asked for.
func fromDrives(r result.Reader) string {
	if r.Device == nil {
		return "unknown"
	}
	return percent(min(*r.Device, r.Bytes), r.Bytes)
}
