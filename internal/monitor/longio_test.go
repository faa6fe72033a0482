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
	at := func(d time.Duration) time.Time { return start.Add(d * ms) }
	of := func(class iotrace.Class, from, to time.Duration) iotrace.IO {
		return iotrace.IO{Class: class, From: at(from), To: at(to)}
	}
	flush := func(from, to time.Duration) iotrace.IO { return of(iotrace.LogFlush, from, to) }
	for _, c := range []struct {
		why  string
		kind string
		took time.Duration
		ios  []iotrace.IO
	}{
		{"nothing", measure.NoIO, 0, nil},
		{"one before and one after", measure.NoIO, 0, []iotrace.IO{flush(0, 100), flush(200, 300)}},
		{"a flush that began before", WaitLogFlush, 80, []iotrace.IO{flush(50, 180)}},
		{"the log's write and flush, told in the order of their ends", WaitLogFlush, 90,
			[]iotrace.IO{flush(140, 190), of(iotrace.LogWrite, 100, 140)}},
		{"two flushes at once", WaitLogFlush, 60, []iotrace.IO{flush(100, 150), flush(110, 160)}},
		{"many short ones", measure.NoIO, 0, []iotrace.IO{flush(100, 124), flush(124, 148), flush(148, 172)}},
		{"a read that is longer than a flush", WaitDataRead, 79,
			[]iotrace.IO{flush(100, 130), of(iotrace.DataRead, 120, 199)}},
		{"a write of data, which no session waits for", measure.NoIO, 0,
			[]iotrace.IO{of(iotrace.DataWrite, 100, 200)}},
	} {
		slow := []measure.SlowOrder{{To: 210 * ms, OperationFrom: 100 * ms, OperationTo: 200 * ms}}
		explain(slow, c.ios, start)
		require.Equal(t, c.kind, slow[0].IO, c.why)
		require.Equal(t, c.took*ms, slow[0].IOTime, c.why)
	}
}
