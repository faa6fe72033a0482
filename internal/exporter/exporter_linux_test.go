package exporter_test

import (
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/exporter"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/metrics"
	"ds2/internal/monitor"
	"ds2/internal/promtest"
	"ds2/internal/sampling"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/topology"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// TestExporter has ds2 read the exporter beside a server on a drive: without a drive being named,
// it knows the server's drive and what it holds.
func TestExporter(t *testing.T) {
	drive := devicetest.Mount(t, "/dev/shm", 200<<20)
	data := filepath.Join(drive.Dir, "data")
	server := pgtest.Start(t, localpg.Options{DataDir: data})
	collector, err := exporter.New([]string{data})
	require.NoError(t, err)
	shown, err := metrics.Serve("127.0.0.1:0", http.NotFound, http.NotFound)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, shown.Close()) })
	shown.Show(prometheus.Collector(collector))

	db := store.Database(pgtest.Open(t, postgres.Open, server.URL("postgres")))
	o := monitor.Options{Exporters: []string{shown.URL()}}
	w, err := monitor.Observe(t.Context(), []store.Database{db}, 0, o)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	require.Len(t, w.Machine.Drives, 1)
	assert.Equal(t, drive.Name, w.Machine.Drives[0].Name)
	assert.ElementsMatch(t, []topology.Role{topology.Data, topology.Log}, w.Machine.Drives[0].Roles)
	assert.Empty(t, w.Unplaced)
	var columns []string
	for _, source := range w.Sources {
		for _, c := range source.Columns {
			columns = append(columns, c.Name)
		}
	}
	for _, column := range []string{sampling.DiskReads, sampling.DiskFlushes} {
		assert.Contains(t, columns, sampling.ItemColumn(column, drive.Name))
	}
	assert.Subset(
		t,
		columns,
		[]string{sampling.CPUBusy, sampling.CPUIOWait, sampling.MemoryAvailable},
	)

	response, err := http.Get(shown.URL())
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	check := exec.Command(promtest.Command(t, "promtool"), "check", "metrics")
	check.Stdin = strings.NewReader(string(text))
	complaints, _ := check.CombinedOutput()
	for line := range strings.Lines(string(complaints)) { // node_exporter has these names
		assert.Regexp(t, "^node_memory_Mem(Available|Total)_bytes .*camelCase", line)
	}
}

// TestNoDrive: a directory that no drive is under is refused by name.
func TestNoDrive(t *testing.T) {
	_, err := exporter.New([]string{"/dev/shm"})
	assert.ErrorContains(t, err, "/dev/shm: no block device stands behind its tmpfs")
}
