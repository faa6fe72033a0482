package runs

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
)

// TestEvents: commands run at their times, and at the run's end those that it came too early for;
// the record has all in the order of their begin, a warning of one that failed, and what they
// disturbed.
func TestEvents(t *testing.T) {
	t.Parallel()
	_, o := ready(t, localpg.Options{})
	o.RunTime.Duration = 2 * time.Second
	o.WarmupTime.Duration = time.Second
	o.WarmWithin.Duration = 2 * time.Second // the store is not warm: no checkpoint is made
	o.Events = []Event{
		{time.Hour, "true", "resume"},
		{0, "true", "suspend"},
		{time.Second, "exit 7", "fail"},
	}
	r := recorded(t, begin(t, o), nil)
	require.Len(t, r.Events, 3)
	for i, command := range []string{"suspend", "fail", "resume"} {
		e := r.Events[i]
		require.Equal(t, command, e.Command)
		require.GreaterOrEqual(t, e.To, e.From)
		require.Equal(t, command != "resume", e.From >= e.Asked, "%+v", e)
		require.GreaterOrEqual(t, e.From, 3., "after the prolonged warm-up: %+v", e)
	}
	require.Equal(t, "exit status 7", r.Events[1].Error)
	require.NotEmpty(t, r.Disturbances)
}
