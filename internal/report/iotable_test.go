package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/store"
)

// TestIOTable: the times of I/Os that a server told by its events stand where traced ones do, with how their unit was
// told.
func TestIOTable(t *testing.T) {
	var s result.Summary
	s.Windows = []measure.Window{{IO: map[string]measure.Latency{"db1:1433/DS2 log write": {Count: 7, P99: 4.99}}}}
	s.IOEvents = []result.IOEvents{{Target: "db1:1433/DS2", IOTimed: store.IOTimed{Unit: "ms", Ratio: new(1.02)}}}
	table := ioTable(s)
	require.Contains(t, table.Caption,
		"experimental: by events of db1:1433/DS2, in whole ms, 1.02 times the milliseconds that it counts")
	require.Equal(t, "db1:1433/DS2 log write", table.Rows[0][0])
	require.Equal(t, "4.99", table.Rows[0][5])
}
