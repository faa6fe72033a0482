package postgres_test

import (
	"runtime"
	"strings"
	"testing"

	"ds2/internal/localpg/pgtest"
)

// TestHugeRow has a server answer with a row of 200 MB: the connection is given up, and the memory stays.
func TestHugeRow(t *testing.T) {
	s := open(t, pgtest.Database(t))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var text string
	err := s.DB().QueryRowContext(t.Context(), "SELECT repeat('x', 200000000)").Scan(&text)
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "expected at most") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 64<<20 {
		t.Errorf("it took %d MB", taken>>20)
	}
	if err := s.DB().QueryRowContext(t.Context(), "SELECT 'x'").Scan(&text); err != nil || text != "x" {
		t.Errorf("the next query: %q, %v", text, err)
	}
}
