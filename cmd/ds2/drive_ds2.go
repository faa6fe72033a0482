package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"ds2/internal/measure"
	"ds2/internal/workload/ds2/calls"
)

// ds2Lines prints a run as DS2's own driver does (WORKLOAD.md section 5), for scripts that parse
// it. Its figures are averages since the end of the warm-up, and before that since the start; its
// response times leave out the price query.
type ds2Lines struct {
	meter    *measure.Meter
	detailed bool
	locale   string        // of dates
	last     measure.Tally // at the line before
	reset    bool          // the figures have been set back, at the end of the warm-up
}

// print writes the line of every ten seconds, and with the detailed view one for each target. In it
// opm is an average since the reset, not the rate of now, lastn is over the last 100 orders, and
// sampled over the time since the line before.
func (l *ds2Lines) print(w io.Writer) {
	et, t, tallies := l.figures(w)
	if et <= 0 {
		return
	}
	fmt.Fprintf(w,
		"et=%7.1f n_overall=%d opm=%d rt_tot_lastn_max_msec=%d rt_tot_avg_msec=%d rt_tot_sampled=%d rollbacks: n=%d %%=%5.1f\n",
		et.Seconds(), t.Orders, opm(t, et), l.meter.RecentMax().Milliseconds(),
		milliseconds(t.OwnTime, t.Orders), l.sampled(t), t.Own[calls.Rollbacks], rollbackRate(t))
	l.last = t
	if !l.detailed {
		return
	}
	for i, of := range l.meter.Totals() {
		t := tallies[i]
		fmt.Fprintf(w,
			"  target %s: n_overall=%d opm=%d rt_tot_avg_msec=%d rollbacks: n=%d %%=%5.1f\n",
			of.Target, t.Orders, opm(t, et), milliseconds(t.OwnTime, t.Orders),
			t.Own[calls.Rollbacks], rollbackRate(t))
	}
}

// final writes the lines at the end.
func (l *ds2Lines) final(w io.Writer, now time.Time) {
	et, t, _ := l.figures(w)
	browses := int64(0)
	browseTime := time.Duration(0)
	// DS2 counts browses by category, actor and title as one.
	for op := calls.OpBrowseByCategory; op <= calls.OpBrowseByTitle; op++ {
		browses += t.Number[op]
		browseTime += t.Sum[op]
	}
	logins := t.Number[calls.OpLogin]
	customers := t.Own[calls.NewCustomers]
	purchases := t.Number[calls.OpPurchase]
	fmt.Fprintf(w, "Final (%s): et=%7.1f n_overall=%d opm=%d rt_tot_lastn_max=%d rt_tot_avg=%d ",
		l.date(now), et.Seconds(), t.Orders, opm(t, et),
		l.meter.RecentMax().Milliseconds(), milliseconds(t.OwnTime, t.Orders))
	fmt.Fprintf(w,
		"n_login_overall=%d n_newcust_overall=%d n_browse_overall=%d n_purchase_overall=%d ",
		logins, customers, browses, purchases)
	fmt.Fprintf(w,
		"rt_login_avg_msec=%d rt_newcust_avg_msec=%d rt_browse_avg_msec=%d rt_purchase_avg_msec=%d ",
		milliseconds(t.Sum[calls.OpLogin], logins),
		milliseconds(t.Sum[calls.OpNewCustomer], customers), milliseconds(browseTime, browses),
		milliseconds(t.Sum[calls.OpPurchase], purchases))
	fmt.Fprintf(w, "rt_tot_sampled=%d n_rollbacks_overall=%d rollback_rate = %5.1f%%\n",
		l.sampled(t), t.Own[calls.Rollbacks], rollbackRate(t))
	// The last figures count from the first order: the reset takes nothing from them.
	total, _ := measure.Sum(l.meter.Totals())
	fmt.Fprintf(w, "Controller (%s): all threads stopped, exiting\n", l.date(now))
	fmt.Fprintf(w, "n_purchase_from_start= %d n_rollbacks_from_start= %d\nRun over\n",
		total.Orders, total.Own[calls.Rollbacks])
}

// date is as .NET writes one in the locale: invariant where there is none, as in most containers,
// else American.
func (l *ds2Lines) date(t time.Time) string {
	if slices.Contains([]string{"", "C", "POSIX"}, l.locale) {
		return t.Format("01/02/2006 15:04:05")
	}
	return t.Format("1/2/2006 3:04:05 PM")
}

// sampled is the response time since the line before.
func (l *ds2Lines) sampled(t measure.Tally) int64 {
	return milliseconds(t.OwnTime-l.last.OwnTime, t.Orders-l.last.Orders)
}

// figures are the time since DS2 would have set its figures back, which it tells, the tally since,
// and each target's.
func (l *ds2Lines) figures(
	w io.Writer,
) (et time.Duration, sum measure.Tally, tallies []measure.Tally) {
	et, tallies, reset := l.meter.SinceReset()
	if reset && !l.reset {
		l.reset = true
		l.last = measure.Tally{}
		fmt.Fprintln(w, "Stats reset")
	}
	for _, t := range tallies {
		sum.Add(t)
	}
	return et, sum, tallies
}

func opm(t measure.Tally, et time.Duration) int64 {
	return int64(math.Round(measure.OrdersPerMinute(t.Orders, et)))
}

// milliseconds is a mean in whole milliseconds, as DS2 prints them.
func milliseconds(sum time.Duration, n int64) int64 {
	return measure.MeanOf(sum, n).Round(time.Millisecond).Milliseconds()
}

// rollbackRate is in percent of the orders. Purchases roll back for lack of stock, and count as
// orders all the same.
func rollbackRate(t measure.Tally) float64 {
	return 100 * float64(t.Own[calls.Rollbacks]) / float64(max(t.Orders, 1))
}

// addCompatibility declares parameters of DVD Store's own driver that mean little here or nothing.
// They are accepted wherever users run, so that a configuration file that its scripts wrote works
// unchanged.
func (f *runFlags) addCompatibility(flags *pflag.FlagSet) {
	flags.Lookup("detailed-view").NoOptDefVal = "Y"
	hidden := func(name string, take func(value string) error) {
		flags.Func(name, "DVD Store's: accepted where it changes nothing", take)
		flags.Lookup(name).Hidden = true
	}
	for _, name := range ofPages {
		hidden(name, func(string) error { return nil })
	}
	// A file written for DVD Store 3 may say what DVD Store 2 does anyhow; with any other value it
	// would be another workload.
	for name, same := range dvdStore3 {
		hidden(name, func(value string) error {
			if !strings.EqualFold(value, same) {
				return errors.New("a parameter of DVD Store 3; ds2 is DVD Store 2: leave it out")
			}
			return nil
		})
	}
	// DS2 asks a target there for its CPU load; tellIgnored says what tells it here.
	for _, name := range []string{"linux-perf-host", "windows-perf-host"} {
		hidden(name, func(host string) error {
			if host != "" && host != "none" {
				f.perfHosts = append(f.perfHosts, strings.ReplaceAll(name, "-", "_")+"="+host)
			}
			return nil
		})
	}
}

// ofPages are parameters for the web pages of DVD Store.
var ofPages = []string{"page-type", "virt-dir"}

// tellIgnored says which of them were given, and what takes their place.
func (f *runFlags) tellIgnored(w io.Writer) {
	ignored := func(names []string, why string) {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			return !f.flags.Changed(name)
		})
		if len(names) > 0 {
			shown := strings.ReplaceAll(strings.Join(names, " and "), "-", "_")
			say(w, note, ": %s ignored%s", shown, why)
		}
	}
	ignored(ofPages, ": ds2 calls the database, not DVD Store's web pages")
	ignored(slices.Sorted(maps.Keys(dvdStore3)), ", of DVD Store 3: ds2 is DVD Store 2")
	for _, host := range f.perfHosts {
		_, name, _ := strings.Cut(host, "=")
		name, _, _ = strings.Cut(name, ":")
		say(w, note, ": %s ignored: ds2 reads this machine's counters; those of another by --exporter http://%s:9100/metrics", host, name)
	}
}
