package experiment

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// TestConfirmed: trials that confirm a number of users come to what a bench of them does; no limit
// holds in one that a limit ended, though its window lies before that.
func TestConfirmed(t *testing.T) {
	for status, want := range map[result.Status]bool{result.Done: true, result.Aborted: false} {
		s := Search{Dir: t.TempDir()}
		var trials []result.Trial
		for i, opm := range []float64{100, 102, 101} {
			run := finished(opm)
			run.Windows = []measure.Window{{Name: "run", To: 60, OPM: opm}}
			run.Limits = result.Verdicts{{Limit: "opm > 0", Measured: &opm, OK: true}}
			name := string(rune('a' + i))
			if name == "c" {
				run.Status = status
			}
			dir := filepath.Join(s.Dir, name)
			require.NoError(t, result.MakeDir(dir))
			require.NoError(t, result.SaveSummary(dir, run))
			trials = append(trials, result.Trial{Record: name})
		}
		b, err := s.foldConfirming(trials)
		require.NoError(t, err)
		assert.Equal(t, 101., *b.Value(), status)
		assert.Equal(t, want, b.Limits.Passed(), status)
	}
}
