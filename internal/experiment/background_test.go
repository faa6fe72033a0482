package experiment

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"ds2/internal/background"
	"ds2/internal/localpg"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// TestBackground has a run scanned and its log read, and the server killed and started again meanwhile: both go on after it, are in
// the record, and leave nothing on the server.
func TestBackground(t *testing.T) {
	t.Parallel()
	server, s := loaded(t, localpg.Options{})
	o := options(t, s)
	o.Background = background.Config{ScrubRate: 2e6, Copies: 2}
	o.Driver.Run = 0 // until stopped
	o.Driver.MaxErrors = 1000
	var err error
	if o.Observer, err = monitor.Observe(t.Context(), o.Targets, o.Driver.Run, monitor.Options{}); err != nil {
		t.Fatal(err)
	}
	run, err := Begin(o)
	if err != nil {
		t.Fatal(err)
	}
	restarted := make(chan error, 1)
	_, err = driveUntil(t, run, func() {
		moreOrders(t.Context(), run, 20)
		server.Kill()
		restarted <- server.Restart(context.Background())
		allBack(t.Context(), run)
		for atWork := false; !atWork && t.Context().Err() == nil; time.Sleep(50 * time.Millisecond) { // until both are there again
			s.DB().QueryRow(`SELECT (SELECT count(*) FROM pg_replication_slots WHERE active) = 2
				AND EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE '%pg_read_binary_file($1%' AND pid <> pg_backend_pid())`).Scan(&atWork)
		}
		for end := run.Meter().Progress().Last.End + 6*time.Second; run.Meter().Progress().Last.End < end && t.Context().Err() == nil; {
			time.Sleep(50 * time.Millisecond)
		}
	})
	if err := errors.Join(err, <-restarted); err != nil {
		t.Fatal(err)
	}
	r, err := result.Read(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
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
		if err := s.DB().QueryRow("SELECT (SELECT count(*) FROM pg_replication_slots), (SELECT count(*) FROM pg_stat_replication)").Scan(&slots, &senders); err != nil {
			t.Fatal(err)
		}
		if slots+senders == 0 {
			break
		}
		if time.Since(begin) > time.Minute {
			t.Fatalf("%d slots and %d processes that send the log are left", slots, senders)
		}
	}
}
