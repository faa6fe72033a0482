package monitor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/iotrace"
	"ds2/internal/measure"
)

// TestExplain: an order waited for those I/Os that were under way during its slowest operation and took a good part of
// it.
func TestExplain(t *testing.T) {
	start := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	const ms = time.Millisecond
	at := func(d time.Duration) time.Time { return start.Add(d) }
	io := func(class iotrace.Class, from, to time.Duration) iotrace.IO {
		return iotrace.IO{Class: class, From: at(from), To: at(to)}
	}
	for _, c := range []struct {
		why  string
		ios  []iotrace.IO
		kind string
		took time.Duration
	}{
		{"nothing", nil, measure.NoIO, 0},
		{"one before and one after", []iotrace.IO{io(iotrace.LogFlush, 0, 100*ms), io(iotrace.LogFlush, 200*ms, 300*ms)}, measure.NoIO, 0},
		{"a flush that began before", []iotrace.IO{io(iotrace.LogFlush, 50*ms, 180*ms)}, WaitLogFlush, 80 * ms},
		{"the log's write and flush, told in the order of their ends", []iotrace.IO{io(iotrace.LogFlush, 140*ms, 190*ms), io(iotrace.LogWrite, 100*ms, 140*ms)}, WaitLogFlush, 90 * ms},
		{"two flushes at once", []iotrace.IO{io(iotrace.LogFlush, 100*ms, 150*ms), io(iotrace.LogFlush, 110*ms, 160*ms)}, WaitLogFlush, 60 * ms},
		{"many short ones", []iotrace.IO{io(iotrace.LogFlush, 100*ms, 124*ms), io(iotrace.LogFlush, 124*ms, 148*ms), io(iotrace.LogFlush, 148*ms, 172*ms)}, measure.NoIO, 0},
		{"a read that is longer than a flush", []iotrace.IO{io(iotrace.LogFlush, 100*ms, 130*ms), io(iotrace.DataRead, 120*ms, 199*ms)}, WaitDataRead, 79 * ms},
		{"a write of data, which no session waits for", []iotrace.IO{io(iotrace.DataWrite, 100*ms, 200*ms)}, measure.NoIO, 0},
	} {
		slow := []measure.SlowOrder{{From: 0, To: 210 * ms, Operation: "purchase", OperationFrom: 100 * ms, OperationTo: 200 * ms}}
		explain(slow, c.ios, start)
		require.Equal(t, c.kind, slow[0].IO, c.why)
		require.Equal(t, c.took, slow[0].IOTime, c.why)
	}
}
