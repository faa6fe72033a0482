package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestHelpGroups: the help of a run shows what a first run needs, and all flags by --help=all, each once, under a heading that exists
// for it.
func TestHelpGroups(t *testing.T) {
	root := newRoot()
	known := map[string]bool{"help": true}
	for _, name := range []string{"drive", "bench", "tune"} {
		cmd, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		_, short, _ := execute(t, name, "--help")
		_, all, _ := execute(t, name, "--help=all")
		if n := strings.Count(short, "\n      --") + strings.Count(short, "\n  -"); n < 10 || n > 20 || !strings.Contains(short, "--help=all") {
			t.Errorf("ds2 %s --help shows %d flags\n%s", name, n, short)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			known[f.Name] = true
			if n := strings.Count(all, " --"+f.Name+" ") + strings.Count(all, " --"+f.Name+"["); !f.Hidden && f.Name != "help" && n == 0 {
				t.Errorf("ds2 %s --help=all does not show --%s", name, f.Name)
			}
			grouped := slices.ContainsFunc(helpGroups, func(g struct{ heading, flags string }) bool { return slices.Contains(strings.Fields(g.flags), f.Name) })
			if !f.Hidden && !grouped {
				t.Errorf("--%s stands under no heading", f.Name)
			}
		})
	}
	for _, g := range helpGroups {
		for _, name := range strings.Fields(g.flags) {
			if !known[name] {
				t.Errorf("%s: there is no flag --%s", g.heading, name)
			}
		}
	}
	if code, _, stderr := execute(t, "drive", "--help=nothing"); code != exitUsage || !strings.Contains(stderr, "--help=all") {
		t.Errorf("--help=nothing: exit %d, %s", code, stderr)
	}
}
