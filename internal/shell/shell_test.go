package shell

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if err := Run(t.Context(), "echo out; echo err >&2", &stdout, &stderr); err != nil || stdout.String() != "out\n" || stderr.String() != "err\n" {
		t.Errorf("Run = %v, printed %q and %q", err, &stdout, &stderr)
	}
	assert.ErrorContains(t, Run(t.Context(), "exit 3", &stdout, &stderr), "3")
}

// TestCancel kills what the shell has started too.
func TestCancel(t *testing.T) {
	file := filepath.Join(t.TempDir(), "alive")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(file); err == nil {
				cancel()
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if err := Run(ctx, "(while :; do touch '"+file+"'; sleep 0.05; done) & wait", nil, nil); err == nil {
		t.Error("Run of what was cut off gave no error")
	}
	time.Sleep(200 * time.Millisecond)
	require.NoError(t, os.Remove(file))
	time.Sleep(300 * time.Millisecond)
	if _, err := os.Stat(file); err == nil {
		t.Error("what the shell started goes on")
	}
}

// TestBackground leaves a program running, which keeps the output open.
func TestBackground(t *testing.T) {
	var stdout bytes.Buffer
	start := time.Now()
	if err := Run(t.Context(), "sleep 120 & echo started", &stdout, nil); err != nil || stdout.String() != "started\n" {
		t.Errorf("Run = %v, printed %q", err, &stdout)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it waited %s for what runs in the background", took)
	}
}
