package runs

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/localpg"
	"ds2/internal/store"
)

// slowDrive is a server whose drive turns slow by the function that it gives. Its cache holds little of a database of
// size S. The drive is a shared library between the server and the kernel, which takes a C compiler and no rights.
func slowDrive(t *testing.T, db *sql.DB) (s store.Database, slow func()) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip(err)
	}
	var programs string
	const where = "SELECT setting FROM pg_config WHERE name = 'BINDIR'"
	require.NoError(t, db.QueryRowContext(t.Context(), where).Scan(&programs))
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} { // the server may belong to another user
		require.NoError(t, os.Chmod(d, 0o755))
	}
	library, while := filepath.Join(dir, "slow_drive.so"), filepath.Join(dir, "slow")
	compile := exec.Command(cc, "-shared", "-fPIC", fmt.Sprintf("-DWHILE=%q", while), "-o", library,
		"testdata/slow_drive.c", "-ldl")
	out, err := compile.CombinedOutput()
	require.NoError(t, err, "%s", out)
	command := fmt.Sprintf("#!/bin/sh\nLD_PRELOAD='%s' exec '%s/postgres' \"$@\"\n", library, programs)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "postgres"), []byte(command), 0o755))
	require.NoError(t, os.Symlink(filepath.Join(programs, "initdb"), filepath.Join(dir, "initdb")))
	_, s = loaded(t, localpg.Options{BinDir: dir, Settings: map[string]string{"shared_buffers": "2MB"}}, datagen.S)
	return s, func() {
		require.NoError(t, os.WriteFile(while, nil, 0o644))
	}
}
