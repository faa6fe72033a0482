package postgres

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestCopyWork follows a copy whose server takes twice the usual time for everything: the first time, and then by the note of that.
func TestCopyWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		note := ""
		for _, c := range []struct {
			why  string
			from time.Duration // what is left is to be right within 30 % from here on; the whole takes 27 s
		}{
			{"the first copy", 10 * time.Second}, {"by the note of the first", 2 * time.Second},
		} {
			var left time.Duration
			begin := time.Now()
			w := newCopyWork("ds2", 10, 10, note)
			step := func(d time.Duration, unnamed float64) {
				time.Sleep(d)
				w.has(unnamed)
				w.show(func(_ string, _ float64, l time.Duration) { left = l })
				past := time.Since(begin)
				if want := 27*time.Second - past; past >= c.from && want > time.Second && (left < 7*want/10 || left > 13*want/10) {
					t.Errorf("%s: after %s %s left, want %s", c.why, past, left, want)
				}
			}
			w.has(3) // files of nobody
			for range 6 {
				step(time.Second, 3)
			}
			w.dropped()
			for done := range 20 {
				step(time.Second, 3+float64(done+1)/2)
			}
			step(time.Second, 13)
			note = w.noteText()
			if !strings.HasPrefix(note, "ds2: for each GB 0.600000 s to drop, 2.000000 s to copy, 0.1") {
				t.Errorf("%s: note %q", c.why, note)
			}
		}
	})
}
