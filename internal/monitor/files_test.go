package monitor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
)

// TestFiles has a table stand for what SQL Server counts of its files, one read after another.
func TestFiles(t *testing.T) {
	db := open(t, pgtest.Database(t))
	pgtest.Exec(t, db,
		"CREATE TABLE files (file text, role text, reads float, writes float, read_bytes float, written_bytes float, read_s float, write_s float)",
		"INSERT INTO files VALUES ('cust_1', 'data', 100, 10, 819200, 81920, 0.5, 0.1), ('log_1', 'log', 0, 1000, 0, 4096000, 0, 0.2)",
	)
	for asDrives, group := range map[bool]string{false: "file", true: "disk"} {
		src, files, err := monitor.Files(t.Context(), db, "host/DS2", "", asDrives, "SELECT * FROM files ORDER BY file")
		require.NoError(t, err)
		if want := []monitor.DatabaseFile{{"cust_1", "host/DS2", monitor.Data}, {"log_1", "host/DS2", monitor.Log}}; !slices.Equal(files, want) {
			t.Errorf("files %+v", files)
		}
		if len(src.Figures) != 12 || len(src.Columns) != 14 {
			t.Fatalf("%d figures, %d columns", len(src.Figures), len(src.Columns))
		}
		for _, c := range src.Columns {
			if !strings.HasPrefix(c.Name, group+".cust_1.") && !strings.HasPrefix(c.Name, group+".log_1.") {
				t.Errorf("column %s", c.Name)
			}
		}
		got := values(t, src)
		if got["file_writes_total"] != 1000 || got["file_write_seconds_total"] != 0.2 { // of the log, the last
			t.Errorf("got %v", got)
		}
	}
}
