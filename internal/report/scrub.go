package report

import (
	"ds2/internal/numbers"
	"ds2/internal/result"
)

func scrubTable(s result.Summary) table {
	t := newTable("Background scan, over the whole run", "database", "MB/s asked for", "MB/s read", "requests/s",
		"bytes a request", "from the drives", "mean ms", "max ms", "passes", "failures")
	for _, r := range s.Scrub {
		t.row(r.Target, numbers.Decimals(r.Rate/1e6, 3), numbers.Decimals(r.PerSecond()/1e6, 3),
			numbers.Decimals(r.RequestsPerSecond(), 2),
			numbers.Integer(r.RequestBytes()), fromDrives(r), figureOr(r.MeanMS), figureOr(r.MaxMS),
			numbers.Integer(r.Passes), numbers.Integer(r.Failures))
	}
	return t
}

// fromDrives is the share of what was read that no cache of the kernel had. The kernel reads ahead of what is asked
// for.
func fromDrives(r result.Scrub) string {
	if r.Device == nil {
		return "unknown"
	}
	return numbers.Share(min(*r.Device, r.Bytes), r.Bytes)
}
