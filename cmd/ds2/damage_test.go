package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/result"
)

// TestDamagedRecord: no command makes a figure of a record that is damaged; it fails and names the file.
func TestDamagedRecord(t *testing.T) {
	_, dir := measured(t, 0)
	require.Contains(t, must(t, "report", "-o", "text", dir), " OPM")
	require.NoError(t, os.Truncate(filepath.Join(dir, result.SamplesFile), 300))
	for _, args := range [][]string{{"report", dir}, {"report", "-o", "text", dir}, {"report", "-o", "csv", dir}, {"report", "-o", "json", dir}, {"compare", dir}} {
		code, stdout, stderr := execute(t, args...)
		if code != exitFailed || !strings.Contains(stderr, result.SamplesFile+" is damaged") || strings.Contains(stdout, "OPM") {
			t.Errorf("ds2 %s: exit %d, %s%s", strings.Join(args[:len(args)-1], " "), code, stdout, stderr)
		}
	}
}
