package main

import (
	"strings"
	"testing"
)

func TestSuggest(t *testing.T) {
	for line, want := range map[string]string{
		"drive --runtime 5m":  "ds2: unknown flag: --runtime; did you mean --run-time?; see ds2 drive --help\n",
		"drive --users 5":     "ds2: unknown flag: --users; did you mean --threads?; see ds2 drive --help\n",
		"drive --thread=5":    "ds2: unknown flag: --thread; did you mean --threads?; see ds2 drive --help\n",
		"drive --nonsense 5":  "ds2: unknown flag: --nonsense; see ds2 drive --help\n",
		"repot":               "ds2: unknown command \"repot\" for \"ds2\"; did you mean reset or report?; see ds2 --help\n",
		"report --format csv": "ds2: unknown flag: --format; did you mean --output?; see ds2 report --help\n",
	} {
		if code, stdout, stderr := execute(t, strings.Fields(line)...); code != exitUsage || stdout != "" || stderr != want {
			t.Errorf("ds2 %s: exit %d, %s%q, want %q", line, code, stdout, stderr, want)
		}
	}
	_, version, _ := execute(t, "version")
	if code, stdout, _ := execute(t, "--version"); code != exitDone || stdout != version || !strings.HasPrefix(stdout, "ds2 ") {
		t.Errorf("ds2 --version: exit %d, %q, want %q", code, stdout, version)
	}
}
