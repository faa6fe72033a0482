package runs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// TestStall: a server that two commands stop and let go on in mid-run loses as many orders, and is back after as long a time, as the
// samples say by hand; the run ends as any other, and its audit holds.
func TestStall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	server, s := loaded(t, localpg.Options{})
	pid, err := os.ReadFile(filepath.Join(server.DataDir(), "postmaster.pid"))
	require.NoError(t, err)
	postmaster, _, _ := strings.Cut(string(pid), "\n")
	signal := func(name string) string {
		return fmt.Sprintf("kill -%s $(cat /proc/%s/task/%s/children)", name, postmaster, postmaster)
	}
	const at, stall, length = 12 * time.Second, 7 * time.Second, 33 * time.Second
	o := options(t, s)
	o.Driver.Threads, o.Driver.Think, o.Driver.Run = 40, 500*time.Millisecond, length
	o.Events = []Event{{at + stall, signal("CONT"), "go on"}, {at, signal("STOP"), "stop"}, {length - 11*time.Second, "exit 7", "fail"}}
	run, err := Begin(o)
	require.NoError(t, err)
	sum, err := drive(t, run)
	require.NoError(t, err)

	require.Len(t, sum.Events, 3)
	for i, shown := range []string{"stop", "go on", "fail"} {
		require.Equal(t, shown, sum.Events[i].Command)
		require.GreaterOrEqual(t, sum.Events[i].From, sum.Events[i].Asked)
	}
	require.Contains(t, strings.Join(sum.Warnings, "; "), "event 3 failed, as run.log tells: exit status 7")
	r, err := result.Read(o.Dir)
	require.NoError(t, err)
	d := r.Disturbances[0]
	require.Subset(t, d.Events, []int{1, 2})

	until := length.Seconds()
	if d.Back != nil {
		until = max(d.From+*d.Back, d.From+10)
	}
	var before, meanwhile measure.Sample
	stalled := 0.
	for _, x := range r.Series.Samples {
		middle := (x.End - x.Length/2).Seconds()
		switch {
		case x.Phase != measure.PhaseRun:
		case middle < d.From:
			before.Counts.Orders, before.Length = before.Counts.Orders+x.Counts.Orders, before.Length+x.Length
		case middle < until:
			meanwhile.Counts.Orders, meanwhile.Length = meanwhile.Counts.Orders+x.Counts.Orders, meanwhile.Length+x.Length
			if x.Counts.Orders == 0 {
				stalled += x.Length.Seconds()
			}
		}
	}
	lost := before.OPM()/60*meanwhile.Length.Seconds() - float64(meanwhile.Counts.Orders)
	t.Logf("%+v; by hand: %.0f lost, %.1f s without orders", d, lost, stalled)
	require.InEpsilon(t, lost, d.Lost, .1)
	require.GreaterOrEqual(t, d.Longest, 900*stall.Seconds())
	if d.Back != nil { // a machine whose processors are busy may not be as quick again
		require.GreaterOrEqual(t, *d.Back, .9*stalled)
	}
}
