package conclude

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/result"
)

// TestScanWithoutPass: a scan that did not come through the database once, for whatever reason, is
// no scan of it.
func TestScanWithoutPass(t *testing.T) {
	for _, c := range []struct {
		why      string
		reader   result.Scrub
		warnings int
	}{
		{"a pass at the rate", result.Scrub{Rate: 1e6, Bytes: 60e6, Seconds: 60, Passes: 1}, 0},
		{"no pass at the rate", result.Scrub{Rate: 1e6, Bytes: 60e6, Seconds: 60}, 1},
		{
			"no pass, since it failed",
			result.Scrub{Rate: 1e6, Bytes: 60e6, Seconds: 60, Failures: 2, Error: "lost"},
			2,
		},
	} {
		s := result.Summary{Happened: result.Happened{Scrub: []result.Scrub{c.reader}}}
		Find(&s)
		all := slices.DeleteFunc(s.Findings, func(f result.Finding) bool {
			return f.Kind != result.ScanMissed
		})
		require.Len(t, all, c.warnings, c.why)
		if c.reader.Passes == 0 {
			assert.Contains(t, all[len(all)-1].Detail, "made no whole pass", c.why)
		}
	}
}
