//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
)

// TestLoadWaitsForRecovery (E10): a server that recovers after a crash refuses sessions until it is done. The recovery
// here waits for the next file of an archive, as long as the test has it wait.
func TestLoadWaitsForRecovery(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{})
	server.Kill()
	whole := filepath.Join(server.DataDir(), "whole")
	for name, text := range map[string]string{
		"postgresql.auto.conf": fmt.Sprintf("restore_command = 'until [ -e %s ]; do sleep .1; done; false'\n", whole),
		"recovery.signal":      "",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(server.DataDir(), name), []byte(text), 0o644))
	}
	restarted := make(chan error, 1)
	go func() { restarted <- server.Restart(t.Context()) }()
	await(t, "the server's refusal", func() bool {
		_, err := pgx.Connect(t.Context(), server.URL("postgres"))
		require.Error(t, err)
		return strings.Contains(err.Error(), "57P03")
	})

	p := begin(t, words("load --resume --target %s --size 1MB --metrics-addr '' --quiet", server.URL("ds2"))...)
	p.await(t, "word that it waits", func() bool { return strings.Contains(p.stderr.String(), "waiting") })
	require.NoError(t, os.WriteFile(whole, nil, 0o644))
	p.ends(t, exitDone)
	require.NoError(t, <-restarted)
}
