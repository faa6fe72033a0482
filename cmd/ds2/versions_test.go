package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
)

// TestOldestAndNewest takes 100 MB the whole way on the oldest and on the newest version of PostgreSQL that ds2 is made
// for: what the server plans by depends on the version, and shows only where tables have more than a few pages.
func TestOldestAndNewest(t *testing.T) {
	nightly.Long(t, "loads 100 MB twice")
	t.Parallel()
	for name, version := range map[string]int{"13": 13, "18": 18} {
		t.Run(name, func(t *testing.T) {
			server := pgtest.Start(t, localpg.Options{Version: version, Settings: map[string]string{"fsync": "off"}})
			target, record := server.URL("ds2"), filepath.Join(t.TempDir(), "record")
			ds2 := func(args string) (stdout string) {
				t.Helper()
				args = strings.NewReplacer("TARGET", target, "RECORD", record).Replace(args)
				return must(t, strings.Fields(args)...)
			}
			told := func(record string) bool {
				return strings.Contains(ds2("report -o text "+record), "overwrites are copied")
			}
			const drive = "drive --target TARGET --threads 2 --warmup-time 0 --run-time 2s --metrics-addr= --out RECORD"
			ds2("load --target TARGET --size 100MB")
			loaded := pgtest.Contents(t, target)
			ds2("snapshot create --target TARGET")
			ds2(drive)
			ds2("verify --target TARGET --record RECORD")
			ds2("reset --target TARGET")
			assert.Equal(t, loaded, pgtest.Contents(t, target), "after the reset")
			ds2(drive + "2")
			ds2("snapshot restore --target TARGET")
			assert.Equal(t, loaded, pgtest.Contents(t, target), "after the restore")
			ds2("verify --target TARGET --deep")
			assert.False(t, told("RECORD"), "the report of a run before any clone says that overwrites are copied")
			if version < 18 {
				return
			}
			ds2("snapshot restore --target TARGET --clone")
			ds2(drive + "3")
			assert.True(t, told("RECORD3"), "the report of a run of a clone does not say that overwrites are copied")
		})
	}
}
