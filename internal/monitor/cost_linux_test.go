package monitor_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

// BenchmarkSecond reads all that is sampled in a second of a run on one database: how long that
// takes, and what it costs ds2 and the server of CPU time.
func BenchmarkSecond(b *testing.B) {
	server := pgtest.Server(b)
	s := pgtest.Open(b, postgres.Open, pgtest.Database(b))
	w, err := monitor.Observe(b.Context(), []store.Database{s}, 0, monitor.Options{})
	require.NoError(b, err)
	b.Cleanup(w.Close)
	read := func() {
		for _, source := range w.Sources {
			require.NoError(b, source.Read(b.Context(), make([]float64, len(source.Figures))))
		}
	}
	read() // connects
	own := ownCPU(b)
	servers := serverCPU(b, server.DataDir())
	for b.Loop() {
		read()
	}
	n := float64(b.N)
	b.ReportMetric(float64(ownCPU(b)-own)/1e3/n, "client-µs/op")
	b.ReportMetric((serverCPU(b, server.DataDir())-servers)*1e6/n, "server-µs/op")
}

func ownCPU(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// serverCPU is the CPU time of a server's processes in seconds.
func serverCPU(b *testing.B, data string) (seconds float64) {
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	require.NoError(b, err)
	first, _, _ := strings.Cut(string(text), "\n")
	parent, err := strconv.Atoi(first)
	require.NoError(b, err)
	all, err := procfs.AllProcs()
	require.NoError(b, err)
	for _, p := range all {
		if stat, err := p.Stat(); err == nil && (stat.PPID == parent || p.PID == parent) {
			seconds += stat.CPUTime()
		}
	}
	return seconds
}
