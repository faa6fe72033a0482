package replay

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestReadRedo reads what servers of several versions and log formats write of a recovery.
func TestReadRedo(t *testing.T) {
	const began = "2026-11-22 08:00:00.250 UTC [7] LOG:  redo starts at 0/3000028\n"
	const ended = "2026-11-22 08:00:02.750 UTC [7] LOG:  redo done at "
	const usage = " system usage: CPU: user: 1.00 s, system: 0.10 s, elapsed: "
	for _, c := range []struct {
		why, log string
		bytes    int64
		seconds  float64
		wrong    string
	}{
		{"version 14 on", began + ended + "1/3000028" + usage + "2.34 s\n", 1 << 32, 2.34, ""},
		{"version 13, by the times of the lines", began + ended + "0/4000028\n", 1 << 24, 2.5, ""},
		{"version 13 without times", "LOG:  redo starts at 0/3000028\nLOG:  redo done at 0/4000028\n", 0, 0, "%m"},
		{"as JSON", `{"timestamp":"x","message":"redo starts at 0/3000028"}` + "\n" +
			`{"message":"redo done at 0/3100028` + usage + `0.50 s"}` + "\n", 1 << 20, 0.5, ""},
		{"the last of several", "redo starts at 0/1\nredo done at 0/2 elapsed: 9.00 s\n" + began +
			"redo done at 0/3000128 elapsed: 1.00 s\n", 256, 1, ""},
		{"a checkpoint came before the kill",
			"redo starts at 0/4000000\nredo done at 0/5000000 elapsed: 1.00 s\n", 0, 0, "a checkpoint came"},
		{"not yet done", "redo starts at 0/1\nredo done at 0/2 elapsed: 9.00 s\n" + began, 0, 0, "has not ended"},
		{"nothing of a recovery", "LOG:  checkpoint starting\n", 0, 0, "no recovery"},
	} {
		r, err := readRedo(c.log, "0/3000028")
		if c.wrong != "" {
			assert.ErrorContains(t, err, c.wrong, c.why)
			continue
		}
		assert.True(t, err == nil && r.Bytes == c.bytes && r.Seconds == c.seconds, "%s: %+v, %v", c.why, r, err)
	}
}
