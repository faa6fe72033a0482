package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ds2/internal/measure"
	"ds2/internal/workload/ds2/calls"
)

// TestDS2Lines: the lines have the form of WORKLOAD.md section 5, which scripts parse, and the
// figures since the warm-up, in which fewer orders were made than in the run after it until the
// next line.
func TestDS2Lines(t *testing.T) {
	m := measure.NewMeter(make([]string, calls.NumOps), []string{"a:1/x", "b:2/y"}, calls.Counts...)
	users := []*measure.Recorder{m.NewRecorder(0), m.NewRecorder(1)}
	// order is one of 132 ms, or of a new customer and 120 ms, without the price query.
	order := func(target int, entry calls.Op, scale time.Duration) {
		var o measure.Order
		var all time.Duration
		for op, took := range map[calls.Op]time.Duration{
			entry: 33, calls.OpBrowseByCategory: 8,
			calls.OpBrowseByTitle: 11, calls.OpPrices: 1000, calls.OpPurchase: 80,
		} {
			if op == calls.OpNewCustomer {
				took = 21
				o.Own[calls.NewCustomers]++
				o.Own[calls.Rollbacks]++
			}
			o.AddLatency(int(op), took*scale)
			all += took * scale
		}
		o.Complete(0, all, all-1000*scale)
		users[target].Record(&o)
	}
	record := func(target, logins, customers int, scale time.Duration) {
		for range logins {
			order(target, calls.OpLogin, scale)
		}
		for range customers {
			order(target, calls.OpNewCustomer, scale)
		}
	}
	l := &ds2Lines{meter: m, detailed: true, locale: "en_US.UTF-8"}
	var out strings.Builder
	next := func(second time.Duration) {
		m.Sample(second*time.Second, make([]measure.Users, 2))
		l.print(&out)
	}
	m.Enter(measure.PhaseWarmup)
	record(0, 6, 1, 2*time.Millisecond)
	next(1)
	m.Enter(measure.PhaseRun)
	record(0, 4, 1, time.Millisecond)
	record(1, 4, 0, time.Millisecond)
	next(2)
	record(1, 5, 1, 3*time.Millisecond)
	next(3)
	l.final(&out, time.Date(2026, 11, 22, 15, 4, 5, 0, time.UTC))
	assert.Equal(
		t,
		`et=    1.0 n_overall=7 opm=420 rt_tot_lastn_max_msec=264 rt_tot_avg_msec=261 rt_tot_sampled=261 `+
			`rollbacks: n=1 %= 14.3
  target a:1/x: n_overall=7 opm=420 rt_tot_avg_msec=261 rollbacks: n=1 %= 14.3
  target b:2/y: n_overall=0 opm=0 rt_tot_avg_msec=0 rollbacks: n=0 %=  0.0
Stats reset
et=    1.0 n_overall=9 opm=540 rt_tot_lastn_max_msec=264 rt_tot_avg_msec=131 rt_tot_sampled=131 `+
			`rollbacks: n=1 %= 11.1
  target a:1/x: n_overall=5 opm=300 rt_tot_avg_msec=130 rollbacks: n=1 %= 20.0
  target b:2/y: n_overall=4 opm=240 rt_tot_avg_msec=132 rollbacks: n=0 %=  0.0
et=    2.0 n_overall=15 opm=450 rt_tot_lastn_max_msec=396 rt_tot_avg_msec=234 rt_tot_sampled=390 `+
			`rollbacks: n=2 %= 13.3
  target a:1/x: n_overall=5 opm=150 rt_tot_avg_msec=130 rollbacks: n=1 %= 20.0
  target b:2/y: n_overall=10 opm=300 rt_tot_avg_msec=287 rollbacks: n=1 %= 10.0
Final (11/22/2026 3:04:05 PM): et=    2.0 n_overall=15 opm=450 rt_tot_lastn_max=396 rt_tot_avg=234 `+
			`n_login_overall=13 n_newcust_overall=2 n_browse_overall=30 n_purchase_overall=15 `+
			`rt_login_avg_msec=58 rt_newcust_avg_msec=42 rt_browse_avg_msec=17 rt_purchase_avg_msec=144 `+
			`rt_tot_sampled=0 n_rollbacks_overall=2 rollback_rate =  13.3%
Controller (11/22/2026 3:04:05 PM): all threads stopped, exiting
n_purchase_from_start= 22 n_rollbacks_from_start= 3
Run over
`,
		out.String(),
	)
	for _, locale := range []string{"", "C", "POSIX"} {
		invariant := (&ds2Lines{locale: locale}).date(time.Date(2026, 11, 2, 15, 4, 5, 0, time.UTC))
		assert.Equal(t, "11/02/2026 15:04:05", invariant, locale)
	}
	fails(
		t,
		exitUsage,
		"--output ds2: workload mailbox has no orders",
		words("demo --workload mailbox -o ds2")...)
}
