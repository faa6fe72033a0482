// Package promtest gives tests a real Prometheus.
package promtest

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Command finds a program of the Prometheus packages. Where it is not installed the test is
// skipped, or fails if the environment has DS2_TEST_PROMETHEUS, as CI's does.
func Command(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		require.Equal(t, "", os.Getenv("DS2_TEST_PROMETHEUS"), "%s is not installed", name)
		t.Skipf("%s is not installed", name)
	}
	return path
}

// StartNodeExporter starts a node_exporter for the test and returns its host:port.
func StartNodeExporter(t testing.TB) string {
	t.Helper()
	return run(t, "/metrics", "prometheus-node-exporter")
}

// Start starts a Prometheus for the test that scrapes the targets (host:port) every second, with
// rule files where given, and returns its URL.
func Start(t testing.TB, targets []string, rules ...string) string {
	t.Helper()
	dir := t.TempDir()
	config := fmt.Sprintf(
		"global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\n"+
			"rule_files: [%s]\n"+
			"scrape_configs: [{job_name: ds2, static_configs: [{targets: ['%s']}]}]\n",
		strings.Join(rules, ", "),
		strings.Join(targets, "', '"),
	)
	file := filepath.Join(dir, "prometheus.yml")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o644))
	data := filepath.Join(dir, "data")
	return "http://" + run(
		t,
		"/-/ready",
		"prometheus",
		"--config.file="+file,
		"--storage.tsdb.path="+data,
	)
}

// StartPushgateway starts a Pushgateway for the test and returns its URL.
func StartPushgateway(t testing.TB) string {
	t.Helper()
	return "http://" + run(t, "/-/ready", "prometheus-pushgateway")
}

// listening is what the programs of Prometheus say of the port that the system gave them.
var listening = regexp.MustCompile(`"Listening on".* address=(\S+)`)

// run runs a server until the end of the test, waits until it answers at a path, and returns its
// host:port.
func run(t testing.TB, path, name string, args ...string) string {
	t.Helper()
	said, err := os.Create(filepath.Join(t.TempDir(), name+".log"))
	require.NoError(t, err)
	defer said.Close()
	cmd := exec.CommandContext(
		t.Context(),
		Command(t, name),
		append(args, "--web.listen-address=127.0.0.1:0")...)
	cmd.Stdout = said
	cmd.Stderr = said
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() { <-ended })
	for {
		text, err := os.ReadFile(said.Name())
		require.NoError(t, err)
		if match := listening.FindSubmatch(text); match != nil {
			if r, err := http.Get("http://" + string(match[1]) + path); err == nil {
				r.Body.Close()
				if r.StatusCode == http.StatusOK {
					return string(match[1])
				}
			}
		}
		select {
		case <-ended:
			t.Fatalf("%s ended:\n%s", name, text)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
