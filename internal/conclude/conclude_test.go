package conclude

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
)

// TestFirstWindow: a run that ended before its first window has no result, and none of a later one that it reached; one
// that ended before a later one has that of the first.
func TestFirstWindow(t *testing.T) {
	var in Input
	for second := range 60 {
		in.Series.Samples = append(in.Series.Samples, measure.Sample{
			End: time.Duration(second+1) * time.Second, Length: time.Second, Phase: measure.PhaseRun,
			Counts: measure.Counts{Orders: 10},
		})
	}
	for _, c := range []struct {
		windows []string
		want    int
	}{
		{[]string{"100s-200s", "10s-50s"}, 0}, {[]string{"10s-50s", "100s-200s"}, 1}, {[]string{"10s-50s"}, 1},
	} {
		windows, err := measure.ParseWindows(c.windows)
		require.NoError(t, err)
		came, err := Of(in, windows)
		require.Equal(t, len(c.windows) > 1, err != nil, "%v: %v", c.windows, err)
		require.Len(t, came.Windows, c.want, c.windows)
		require.Equal(t, c.want == 1, came.Figure != nil, c.windows)
	}
}
