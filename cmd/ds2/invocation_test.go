package main

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInvocation: the record has the command as it was typed and every flag, without the passwords.
func TestInvocation(t *testing.T) {
	args := words("drive --target postgres://ann:s3cr3t@a/ds2;postgres://ben:s3cr3t@b/ds2?sslmode=disable " +
		"--limit 'order p95 < 200ms' --n_threads=8 --power 'ipmitool -H bmc -U admin -P s3cr3t dcmi power reading' " +
		"--password-command 'echo s3cr3t'")
	root := newRoot()
	root.SetArgs(args)
	drive, _, err := root.Find(args)
	require.NoError(t, err)
	var line, threads, ramp string
	drive.RunE = func(cmd *cobra.Command, _ []string) error {
		c := invocation(cmd, cmd.Flags(), nil)
		line, threads, ramp = c.Line, c.Flags["threads"], c.Flags["ramp-rate"]
		for name, value := range c.Flags {
			assert.NotContains(t, value, "s3cr3t", "--%s is recorded", name)
		}
		return nil
	}
	require.NoError(t, root.ExecuteContext(withArguments(t.Context(), args)))
	want := "ds2 drive --target 'postgres://ann:***@a/ds2;postgres://ben:***@b/ds2?sslmode=disable' " +
		"--limit 'order p95 < 200ms' --n_threads=8 --power 'ipmitool -H bmc -U admin -P *** dcmi power reading' " +
		"--password-command ***"
	assert.True(t, line == want && threads == "8" && ramp == "10",
		"recorded as\n%s\nwant\n%s\n--threads %s, --ramp-rate %s", line, want, threads, ramp)
}
