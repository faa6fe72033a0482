package shell

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var stdout, stderr bytes.Buffer
	require.NoError(t, Run(t.Context(), "echo out; echo err >&2", &stdout, &stderr))
	assert.Equal(t, "out\n", stdout.String())
	assert.Equal(t, "err\n", stderr.String())
	assert.ErrorContains(t, Run(t.Context(), "exit 3", &stdout, &stderr), "3")
}

// TestCancel kills what the shell has started too.
func TestCancel(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	ctx, cancel := context.WithCancel(t.Context())
	held := make(chan *os.File, 1)
	go func() {
		file, err := os.Open(pipe) // which waits for what the shell starts
		assert.NoError(t, err)
		held <- file
		cancel()
	}()
	require.Error(
		t,
		Run(ctx, "(sleep 600; true) >'"+pipe+"' & wait", nil, nil),
		"of what was cut off",
	)
	_, err := io.ReadAll(<-held) // until the other end is closed
	require.NoError(t, err)
}

// TestBackground leaves a program running, which keeps the output open.
func TestBackground(t *testing.T) {
	var stdout bytes.Buffer
	start := time.Now()
	require.NoError(t, Run(t.Context(), "sleep 120 & echo started", &stdout, nil))
	assert.Equal(t, "started\n", stdout.String())
	assert.LessOrEqual(t, time.Since(start), time.Minute, "it waited")
}
