package main

import (
	"os"
	"strings"
	"testing"
)

// Wrong usage of device exits 2, names the flag, and touches nothing.
func TestDeviceUsage(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ args, want string }{
		{"device", "--dir is missing"},
		{"device --dir " + dir + " --device /dev/null --overwrite /dev/null", "--dir is missing"},
		{"device --device /dev/null", `--overwrite is ""`},
		{"device --device /dev/null --overwrite /dev/zero", `--overwrite is "/dev/zero"`},
		{"device --dir " + dir + " --file-size 1MB", "--file-size is 1.0 MB"},
		{"device --dir " + dir + " --file-size many", "--file-size"},
		{"device --dir " + dir + " --stage-time 0", "--stage-time is 0s"},
		{"device --dir " + dir + " --round-time 48h", "--round-time is 48h0m0s"},
		{"device --dir " + dir + " --output xml", `--output: invalid value "xml"`},
	} {
		code, stdout, stderr := execute(t, strings.Fields(c.args)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 || stdout != "" {
			t.Errorf("ds2 %s: exit %d, stderr %q, want exit 2 and one line with %q", c.args, code, stderr, c.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
