package runs

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/result"
)

// TestStall: a server that two commands stop and let go on in mid-run completes no order in between, which the record's
// disturbance tells; the run ends as any other. What that lost is proved by TestDisturbance of measure and
// TestDisturbances of conclude.
func TestStall(t *testing.T) {
	t.Parallel()
	nightly.Long(t, "takes half a minute")
	server, o := ready(t, localpg.Options{})
	processes := pgtest.Processes(t, server.DataDir())
	postmaster := processes[len(processes)-1]
	signal := func(name string) string {
		return fmt.Sprintf("kill -%s $(cat /proc/%s/task/%[2]s/children)", name, postmaster)
	}
	const at, stall, length = 13 * time.Second, 3 * time.Second, 27 * time.Second
	o.RunTime.Duration = length
	o.Events = []Event{{at + stall, signal("CONT"), "go on"}, {at, signal("STOP"), "stop"}}
	r := recorded(t, begin(t, o), nil)

	require.Len(t, r.Events, 2)
	event := map[string]result.Event{}
	for _, e := range r.Events {
		require.GreaterOrEqual(t, e.From, e.Asked)
		event[e.Command] = e
	}
	longest := 0.
	for _, x := range r.Series.Samples {
		if x.End.Seconds() > event["stop"].From {
			longest = max(longest, x.Max)
		}
		if (x.End-x.Length).Seconds() > event["stop"].To && x.End.Seconds() < event["go on"].From {
			require.Zero(t, x.Counts.Orders, "at %s", x.End)
		}
	}
	stalled := event["go on"].From - event["stop"].To
	require.GreaterOrEqual(t, longest, 1000*stalled)
	d := r.Disturbances[0]
	require.True(t, d.Unknown != "" || d.Longest >= 1000*stalled, "%+v", d) // unknown where the run phase began late
}
