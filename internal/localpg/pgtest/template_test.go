package pgtest_test

import (
	"database/sql"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
)

// TestCopyCluster copies the same template at once: each copy is a server of its own, and starts without recovery.
func TestCopyCluster(t *testing.T) {
	t.Parallel()
	identities := map[string]bool{}
	for _, checksums := range []bool{false, true} {
		for range 2 {
			s := pgtest.Start(t, localpg.Options{Checksums: checksums, Settings: map[string]string{"fsync": "off"}})
			db, err := sql.Open("pgx", s.URL("postgres"))
			require.NoError(t, err)
			defer db.Close()
			identities[pgtest.Value[string](t, db, "SELECT system_identifier FROM pg_control_system()")] = true
			on := pgtest.Value[bool](t, db, "SELECT current_setting('data_checksums') = 'on'")
			assert.Equal(t, checksums, on, "data_checksums")
			log, err := os.ReadFile(s.LogFile())
			require.NoError(t, err)
			assert.NotContains(t, string(log), "automatic recovery", "a copy needed recovery")
		}
	}
	assert.Len(t, identities, 4, "4 servers have the identities %v", identities)
}
