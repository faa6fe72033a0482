package runs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/background"
	"ds2/internal/localpg"
	"ds2/internal/monitor"
	"ds2/internal/nightly"
	"ds2/internal/result"
	"ds2/internal/store"
)

// TestBackground has a run scanned and its log read, and the server killed and started again meanwhile: both go on
// after it, are in the record, and leave nothing on the server.
func TestBackground(t *testing.T) {
	nightly.Long(t, "drives for 15 s")
	t.Parallel()
	server, s := loaded(t, localpg.Options{})
	o := options(t, s)
	o.Background = background.Config{ScrubRate: 2e6, Copies: 2}
	o.Driver.Run = 0 // until stopped
	o.Driver.MaxErrors = 1000
	observe(t, &o, monitor.Options{})
	run := begin(t, o)
	restarted := make(chan error, 1)
	_, err := driveUntil(t, run, func() {
		moreOrders(t.Context(), run, 20)
		server.Kill()
		restarted <- server.Restart(context.Background())
		allBack(t.Context(), run)
		for atWork := false; !atWork && t.Context().Err() == nil; time.Sleep(50 * time.Millisecond) { // until both are there again
			s.DB().QueryRow(`SELECT (SELECT count(*) FROM pg_replication_slots WHERE active) = 2
				AND EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE '%pg_read_binary_file($1%' AND pid <> pg_backend_pid())`).Scan(&atWork)
		}
		later(t.Context(), run, 6*time.Second)
	})
	require.NoError(t, errors.Join(err, <-restarted))
	r, err := result.Read(o.Dir)
	require.NoError(t, err)
	if len(r.Scrub) != 1 || len(r.Copies) != 2 {
		t.Fatalf("scrubs %+v, readers of the log %+v", r.Scrub, r.Copies)
	}
	for _, x := range append(r.Scrub, r.Copies...) {
		if x.Failures == 0 || x.Error == "" || x.Bytes == 0 || x.Seconds <= 0 {
			t.Errorf("after a kill of the server: %+v", x)
		}
	}
	if warnings := strings.Join(r.Warnings, "\n"); !strings.Contains(warnings, "the background scan of") || !strings.Contains(warnings, "a reader of the log of") {
		t.Errorf("warnings %q", warnings)
	}
	// Both were at work until the end: the last seconds of the run have their counts.
	from, to := r.End.Add(-4*time.Second), r.End
	for _, column := range []string{monitor.ScrubReadBytes, monitor.CopiesReadBytes} {
		if v := r.Host.Mean(column, from, to); !(v > 0) {
			t.Errorf("%s is %v after the server came back", column, v)
		}
	}
	s.DB().SetMaxIdleConns(0)
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		var slots, senders int
		require.NoError(t, s.DB().QueryRow("SELECT (SELECT count(*) FROM pg_replication_slots), (SELECT count(*) FROM pg_stat_replication)").Scan(&slots, &senders))
		if slots+senders == 0 {
			break
		}
		if time.Since(begin) > 5*time.Minute {
			t.Fatalf("%d slots and %d processes that send the log are left", slots, senders)
		}
	}
}

// TestScanWithoutPass: a scan that did not come through the database once, for whatever reason, is no scan of it.
func TestScanWithoutPass(t *testing.T) {
	for _, c := range []struct {
		why      string
		reader   result.Reader
		warnings int
	}{
		{"a pass at the rate", result.Reader{Rate: 1e6, Bytes: 60e6, Seconds: 60, Passes: 1}, 0},
		{"no pass at the rate", result.Reader{Rate: 1e6, Bytes: 60e6, Seconds: 60}, 1},
		{"no pass, since it failed", result.Reader{Rate: 1e6, Bytes: 60e6, Seconds: 60, Failures: 2, Error: "lost"}, 2},
	} {
		var all warnings
		all.ofBackground(result.Summary{Happened: result.Happened{Scrub: []result.Reader{c.reader}}})
		if len(all) != c.warnings || c.reader.Passes == 0 && !strings.Contains(all[len(all)-1], "made no whole pass") {
			t.Errorf("%s: %q", c.why, all)
		}
	}
}

// noting is a database whose server notes I/O errors.
type noting struct {
	store.Database
	lines []string
	err   error
}

func (n noting) Label() string { return "db1:1433/DS2" }

func (n noting) Can() store.Capabilities {
	return store.Capabilities{IOFaults: func(context.Context) (func(context.Context) ([]string, error), error) {
		return func(context.Context) ([]string, error) { return n.lines, n.err }, nil
	}}
}

// TestIOFaultsMarkTheRun: what a server noted of failed I/Os while a run went on is in the run's warnings, a few lines
// of it.
func TestIOFaultsMarkTheRun(t *testing.T) {
	const slow = "SQL Server has encountered 4 occurrence(s) of I/O requests taking longer than 15 seconds to complete on file [E:\\DS2\\cust_1.ndf] in database [DS2] (7)."
	for _, c := range []struct {
		why  string
		of   noting
		want int
		says string
	}{
		{"nothing", noting{}, 0, ""},
		{"one of 833", noting{lines: []string{slow}}, 1, slow},
		{"many", noting{lines: slices.Repeat([]string{slow}, 9)}, mostFaults + 1, "4 I/O errors more"},
		{"it does not tell", noting{err: errors.New("gone")}, 1, "is not known: gone"},
	} {
		r := &Run{options: Options{Targets: []store.Database{c.of}}}
		warnings := r.watchFaults(t.Context())(t.Context())
		if len(warnings) != c.want || c.want > 0 && !strings.Contains(warnings[len(warnings)-1], c.says) {
			t.Errorf("%s: %q", c.why, warnings)
		}
	}
}
