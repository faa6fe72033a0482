// Package promtest gives tests a real Prometheus.
package promtest

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Command finds a program of the Prometheus packages. Where it is not installed the test is skipped, or fails if the
// environment has DS2_TEST_PROMETHEUS, as CI's does.
func Command(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("DS2_TEST_PROMETHEUS") != "" {
		t.Fatalf("%s is not installed", name)
	}
	t.Skipf("%s is not installed", name)
	return ""
}

// FreeAddress is an address on the loopback that nobody listens on.
func FreeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// StartNodeExporter starts a node_exporter for the test and returns its host:port.
func StartNodeExporter(t testing.TB) string {
	t.Helper()
	address := FreeAddress(t)
	Run(t, "http://"+address+"/metrics", exec.Command(Command(t, "prometheus-node-exporter"), "--web.listen-address="+address))
	return address
}

// Start starts a Prometheus for the test that scrapes the targets (host:port) every second, with rule files where
// given, and returns its URL.
func Start(t testing.TB, targets []string, rules ...string) string {
	t.Helper()
	dir := t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}\nrule_files: [%s]\n"+
		"scrape_configs: [{job_name: ds2, static_configs: [{targets: ['%s']}]}]\n",
		strings.Join(rules, ", "), strings.Join(targets, "', '"))
	file := filepath.Join(dir, "prometheus.yml")
	require.NoError(t, os.WriteFile(file, []byte(config), 0o644))
	address := FreeAddress(t)
	Run(t, "http://"+address+"/-/ready", exec.Command(Command(t, "prometheus"), "--config.file="+file,
		"--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address))
	return "http://" + address
}

// Run runs a server until the end of the test and waits until it answers at the URL.
func Run(t testing.TB, url string, cmd *exec.Cmd) {
	t.Helper()
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if r, err := http.Get(url); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(deadline) {
			cmd.Process.Kill()
			cmd.Wait()
			t.Fatalf("%s does not answer at %s:\n%s", cmd.Path, url, output.String())
		}
	}
}
