package monitor_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
)

// TestFiles has a table stand for what SQL Server counts of its files, one read after another.
func TestFiles(t *testing.T) {
	db := open(t, pgtest.Database(t))
	pgtest.Exec(t, db,
		"CREATE TABLE files (file text, role text, reads float, writes float, read_bytes float, written_bytes float, "+
			"read_s float, write_s float)",
		"INSERT INTO files VALUES "+
			"('cust_1', 'data', 100, 10, 819200, 81920, 0.5, 0.1), ('log_1', 'log', 0, 1000, 0, 4096000, 0, 0.2)",
	)
	for asDrives, group := range map[bool]string{false: "file", true: "disk"} {
		src, files, err := monitor.Files(t.Context(), db, "host/DS2", "", asDrives, "SELECT * FROM files ORDER BY file")
		require.NoError(t, err)
		want := []monitor.DatabaseFile{{"cust_1", "host/DS2", monitor.Data}, {"log_1", "host/DS2", monitor.Log}}
		assert.Equal(t, want, files)
		require.Len(t, src.Figures, 12)
		require.Len(t, src.Columns, 14)
		for _, c := range src.Columns {
			assert.Regexp(t, "^"+group+`\.(cust|log)_1\.`, c.Name)
		}
		got := values(t, src) // of the log, the last
		assert.Equal(t, []float64{1000, .2}, []float64{got["file_writes_total"], got["file_write_seconds_total"]})
	}
}
