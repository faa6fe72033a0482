package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
)

// TestOldestAndNewest takes 100 MB the whole way on the oldest and on the newest version of
// PostgreSQL that ds2 is made for: what the server plans by depends on the version, and shows only
// where tables have more than a few pages.
func TestOldestAndNewest(t *testing.T) {
	nightly.Long(t, "loads 100 MB twice")
	t.Parallel()
	for name, version := range map[string]int{"13": 13, "18": 18} {
		t.Run(name, func(t *testing.T) {
			server := pgtest.Start(
				t,
				localpg.Options{Version: version, Settings: map[string]string{"fsync": "off"}},
			)
			target := server.URL("ds2")
			record := filepath.Join(t.TempDir(), "record")
			ds2 := func(line string) { must(t, words("%s --target %s", line, target)...) }
			drive := func(out string) {
				must(t, quick("drive", target, "--run-time 2s --out %s", out)...)
			}
			ds2("load --size 100MB")
			loaded := pgtest.Contents(t, target)
			ds2("snapshot create")
			drive(record)
			ds2("verify --record " + record)
			ds2("reset")
			assert.Equal(t, loaded, pgtest.Contents(t, target), "after the reset")
			drive(record + "2")
			ds2("snapshot restore")
			assert.Equal(t, loaded, pgtest.Contents(t, target), "after the restore")
			ds2("verify --deep")
		})
	}
}
