package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/conclude"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/store"
	"ds2/internal/texttest"
	"ds2/internal/topology"
)

// mailStore makes a run one of a mail store with the figures of the storage report of 500
// mailboxes: those of two hours, and of the checksum test after it.
func mailStore(s *result.Summary) {
	const logBytes = 12308.349
	s.Targets = []string{"server1:5432/mail"}
	s.Words.Unit = result.IOPS
	s.Pace = &result.Pace{Target: 250}
	s.Headline = result.NewHeadline(&result.Figure{Unit: result.IOPS, Value: 274.15})
	s.Limits = result.Verdicts{
		{Limit: "iops >= 245", Unit: result.UnitIOPS, Bound: 245, Measured: new(274.15), OK: true},
		{Limit: "data read mean < 20ms", Unit: result.UnitSeconds, Measured: new(.0121), OK: true},
	}
	s.Storage = &sampling.Storage{
		IOPS: 274.15, Reads: 139.504, Writes: 134.646, LogWrites: 75.691, LogBytes: new(logBytes),
		Volumes: []sampling.Volume{
			{Name: "d", Roles: []topology.Role{topology.Data}},
			{Name: "e", Roles: []topology.Role{topology.Log}},
		},
	}
	s.Conditions = []result.Condition{
		{Name: result.TotalIOPS, Value: 274.15 + 75.691, Unit: "a second"},
	}
	s.DeepChecks = []store.DeepCheck{{
		Bytes: 127667 << 20, Seconds: 1169, Objects: 2,
		DriveReads: new(1744.757), DriveReadMean: new(.050),
	}}
	s.Audit = nil
	conclude.Find(s)
}

// TestChecksumTest: what the drives did while a checksum test read stands in the form, in the text
// and on the page, and nothing where they were not observed.
func TestChecksumTest(t *testing.T) {
	r := record(t, mailStore)
	form, err := ESRP([]*result.Record{r})
	require.NoError(t, err)
	for name, text := range map[string]string{
		"form": told(t, form), "text": told(t, Runs(r)), "page": written(t, Runs(r)),
	} {
		t.Log(name)
		for _, tag := range []string{"th", "td", "tr"} {
			text = strings.ReplaceAll(text, "</"+tag+">", " ")
		}
		text = texttest.Flat(text)
		texttest.Contains(t, text, "133,868", " in 1,169.0 s")
		assert.Regexp(t, `reads of the drives meanwhile (<td>)?1,745 a second, 50\.0 ms each`, text)
	}
	r.DeepChecks[0].DriveReads = nil
	r.DeepChecks[0].DriveReadMean = nil
	assert.NotContains(t, told(t, Runs(r)), "meanwhile")
}

// TestBothRates: the first screen of a mail store says what its drives did without the log, for
// which targets are, and with it, by which the published reports rank; of a run and of a bench.
func TestBothRates(t *testing.T) {
	r := record(t, mailStore)
	var first strings.Builder
	require.NoError(t, Runs(r).Text(&first, false, 0))
	texttest.Contains(t, texttest.Flat(first.String()),
		"274 IOPS of a target of 250 (350 with the log)",
		"iops >= 245, without the log's 274", "total IOPS, with the log's, a second 350 ")
	b := compareAlone(r.Summary).Configurations[0]
	b.Median = b.Runs[0].Dir
	assert.Equal(t, "274 IOPS, of a single run; 350 with the log", benchView(b).Headline)
}
