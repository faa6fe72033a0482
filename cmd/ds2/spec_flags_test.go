package main

import (
	"path/filepath"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/result"
)

// TestFlagsInSpec: a bench is not resumed with another value of any flag that makes its runs what
// they are. A flag that is neither changed here nor known to change no run fails the test.
func TestFlagsInSpec(t *testing.T) {
	device, err := filepath.Abs("../../docs/examples/device.json")
	require.NoError(t, err)
	changes := map[string]string{
		"checkpoint-first":  "false",
		"cold-start":        "true",
		"cooldown":          "2m",
		"device-record":     device,
		"devices":           "sda",
		"discard-log":       "true",
		"drain-time":        "9s",
		"event":             "5m=true",
		"exporter":          "http://db1:9100/metrics",
		"idle":              "1s",
		"io-trace":          "true",
		"journal":           "true",
		"limit":             "order p95 < 1s",
		"max-errors":        "7",
		"max-retries":       "7",
		"operation-timeout": "7s",
		"power":             "watts",
		"practice":          "2",
		"ramp-rate":         "7",
		"rate":              "7/s",
		"restore":           "none",
		"restore-command":   "restore.sh",
		"run-time":          "7m",
		"scrub-rate":        "1MB/s",
		"server-memory":     "8GB",
		"settle":            "1s",
		"spacing":           "even",
		"target":            "postgres://db2/ds2",
		"think-time":        "1s",
		"threads":           "7",
		"user-offset":       "7",
		"verify":            "none",
		"warmup-time":       "7m",
		"window":            "auto",
		"seed":              "7",
	}
	none := map[string]string{
		"engine": "target", "database-name": "target", "password-command": "a secret",
		"config-file": "other flags", "configuration": "other flags", "file": "other flags",
		"profile": "other flags", "ds2-mode": "refused", "size": "checked against the database",
		"words":            "of the workload, which puts its parameters in the Spec in words",
		"pct-newcustomers": "of the workload", "n-searches": "of the workload",
		"search-batch-size": "of the workload", "n-line-items": "of the workload",
		"headroom": "of the workload", "iops-per-mailbox": "of the workload",
		"lazy": "of the workload", "mailbox-profile": "of the workload", "mix": "of the workload",
		"warm-within": "of the workload, once it is known", "abort-on-fail": "needs a limit; below",
		"drop-unsteady": "may change", "disclosure": "words for the report",
		"metrics-addr": "shows", "pushgateway": "shows", "out": "shows", "run-id": "a name",
		"smart": "reads counters before and after", "start-at": "refused in a bench",
	}
	begin := func(flag, value string) result.Spec {
		var f benchFlags
		flags := newFlagSet(f.add)
		require.NoError(t, flags.Set("target", "postgres://db1/ds2"))
		require.NoError(t, flags.Set("seed", "1"))
		require.NoError(t, flags.Set(flag, value), flag)
		f.Runs = 3
		require.NoError(t, f.check(), flag)
		o, err := f.judge()
		require.NoError(t, err, flag)
		o.Spec.Targets, err = f.urls()
		require.NoError(t, err)
		return o.Spec
	}
	newFlagSet(new(benchFlags).add).VisitAll(func(f *pflag.Flag) {
		value, changed := changes[f.Name]
		if !changed {
			assert.True(t, none[f.Name] != "" || f.Value.Type() == "func" ||
				f.Name == "detailed-view", "--%s: does another value make another run?", f.Name)
			return
		}
		a := begin("target", "postgres://db1/ds2")
		b := begin(f.Name, value)
		assert.NotEmpty(t, result.Differences(a, b, result.Resume), "--%s", f.Name)
	})
	secret := begin("power", "ipmitool -H bmc -P s3cret dcmi power reading")
	assert.NotContains(t, secret.PowerCommand, "s3cret")
	secret = begin("exporter", "http://u:s3cret@db1:9100/metrics")
	assert.NotContains(t, secret.Exporters[0], "s3cret")
}
