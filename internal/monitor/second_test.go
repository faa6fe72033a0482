package monitor_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

// BenchmarkSecond is one second of counters: of this machine, its drives, and a server on it.
func BenchmarkSecond(b *testing.B) {
	address, err := url.Parse(pgtest.Database(b))
	require.NoError(b, err)
	target, err := postgres.Open(address)
	require.NoError(b, err)
	defer target.Close()
	w, err := monitor.Observe(b.Context(), []store.Database{target}, 0, monitor.Options{})
	require.NoError(b, err)
	for b.Loop() {
		for _, source := range w.Sources {
			require.NoError(b, source.Read(b.Context(), make([]float64, len(source.Figures))))
		}
	}
}
