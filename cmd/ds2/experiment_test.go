package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ds2/internal/fuzztest"
)

// TestExperimentFile reads the example of the help.
func TestExperimentFile(t *testing.T) {
	t.Setenv("HDD_PASSWORD", "a/b@c:d e")
	secret := filepath.Join(t.TempDir(), "ssd")
	if err := os.WriteFile(secret, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(newExperimentCommand().Example, "arrays.yaml:\n")
	f, err := parseExperiment("arrays.yaml", []byte(strings.ReplaceAll(text, "/run/secrets/ssd", secret)))
	if err != nil {
		t.Fatal(err)
	}
	if f.least != 5 || f.most != 9 || f.until != 2 || f.order != "random" {
		t.Errorf("%+v", f)
	}
	var names, dirs, targets []string
	for _, c := range f.configurations {
		names, dirs, targets = append(names, c.Name), append(dirs, c.Dir), append(targets, c.bench.target)
		if c.bench.config.Run != 20*time.Minute || c.bench.restore.way != "snapshot" || len(c.Labels) != 2 || strings.Contains(fmt.Sprint(c.Settings), "s3cret") {
			t.Errorf("%s: %+v", c.Name, c)
		}
	}
	if want := []string{"hdd, threads 32", "hdd, threads 128", "ssd, threads 32", "ssd, threads 128"}; !slices.Equal(names, want) {
		t.Errorf("configurations %q", names)
	}
	if want := []string{"hdd-threads-32", "hdd-threads-128", "ssd-threads-32", "ssd-threads-128"}; !slices.Equal(dirs, want) {
		t.Errorf("directories %q", dirs)
	}
	if targets[1] != "postgres://ds2:a%2Fb%40c%3Ad%20e@db1/ds2" || targets[2] != "postgres://ds2:s3cret@db2/ds2" {
		t.Errorf("targets %q", targets)
	}
	hidden, err := parseExperiment("x.yaml", []byte("configurations: {a: {prometheus: 'http://u:s3cret@m', password-command: echo s3cret}}\nfactors: {target: ['postgres://u:s3cret@h/d', 'postgres://u:s3cret@h/e']}"))
	if err != nil || strings.Contains(fmt.Sprintf("%+v", hidden.configurations[1].ExperimentConfiguration), "s3cret") {
		t.Errorf("%+v, %v", hidden, err)
	}
	if threads := f.configurations[3].bench.config.Threads; threads != 128 {
		t.Errorf("%d users", threads)
	}
}

// TestExperimentFileErrors: bad input exits with 2 and says where it is.
func TestExperimentFileErrors(t *testing.T) {
	t.Setenv("HDD_PASSWORD", "s3cret")
	for _, c := range []struct{ why, text, want string }{
		{"an unknown key", "target: postgres://h/d\nthreds: 7", `2:1: unknown key "threds": keys are the flags of ds2 bench, and configurations, factors, runs, order, until`},
		{"one of a configuration", "configurations:\n  hdd:\n    target: postgres://h/d\n    runz: 5", `4:5: unknown key "runz"`},
		{"one of the factors", "target: postgres://h/d\nfactors: {thredas: [1]}", `2:11: unknown key "thredas"`},
		{"a flag of the command line", "out: x", `1:1: unknown key "out"`},
		{"a value that cannot be read", "target: postgres://h/d\nthreads: many", `2:10: --threads: not a whole number: "many"`},
		{"one of a factor", "target: postgres://h/d\nfactors:\n  threads: [8, x]", `3:16: --threads: not a whole number: "x"`},
		{"a value that makes no run", "configurations:\n  hdd: {target: postgres://h/d, threads: 0}", `2:42: configuration hdd: --threads is 0`},
		{"no target", "configurations:\n  hdd: {threads: 8}", `2:3: configuration hdd: --target is missing`},
		{"a limit", "target: postgres://h/d\nlimit: order p95 < 5", `2:8: configuration configuration: --limit: a latency needs a unit`},
		{"a window beyond the run", "target: postgres://h/d\nrun-time: 30s\nwindow: 100s-200s", `3:9: configuration configuration: --window: 100s-200s ends at`},
		{"a list for a single value", "threads: [8, 32]", "1:10: threads has one value; values to compare stand under factors"},
		{"a factor that is given", "threads: 8\nfactors:\n  threads: [8, 32]", "1:1: threads is a factor already"},
		{"a factor with one value", "factors:\n  threads: 8", "2:12: threads: a factor has a list of values"},
		{"too many configurations", "factors:\n  threads: [" + strings.Repeat("1,", 100) + "2]", "2:3: 101 configurations are too many"},
		{"a configuration twice", "target: postgres://h/d\nfactors:\n  threads: [8, 8]", `there are two configurations "threads 8"`},
		{"a key twice", "threads: 8\nthreads: 9", `2:1: the key "threads" is given twice`},
		{"a flag twice", "threads: 8\nn_threads: 9", "2:1: threads is given twice, once by another name"},
		{"no value", "target:", "1:8: target has no value"},
		{"a value that is more", "target: {a: b}", "1:9: target has no value"},
		{"runs", "runs: some", `1:7: runs: "some" is neither a number such as 5 nor a range such as 3..9`},
		{"runs backwards", "runs: 9..3", "1:7: runs: \"9..3\" must be 1 to 1000, the lower number first"},
		{"a range of runs without until", "target: postgres://h/d\nruns: 3..9", "2:7: runs: 3..9 takes until"},
		{"until", "until: soon", `1:8: until: "soon" is no percentage such as 2 %`},
		{"until in sequence", "target: postgres://h/d\nuntil: 2 %\norder: sequence", "2:8: until: in sequence"},
		{"order", "order: reverse", `1:8: order: "reverse" is neither random nor sequence`},
		{"two seeds", "configurations:\n  a: {target: postgres://h/d, seed: 1}\n  b: {target: postgres://h/d, seed: 2}", "3:31: seed: an experiment has one"},
		{"a variable", "target: postgres://ds2:${NO_SUCH_VARIABLE}@h/d", "1:9: target: the variable NO_SUCH_VARIABLE is not set"},
		{"a file", "target: postgres://ds2:${file:nowhere}@h/d", "1:9: target: open nowhere: "},
		{"a password in what cannot be parsed", "target: postgres://ds2:${HDD_PASSWORD}@h:port/d", "it is not a URL"},
		{"YAML", "threads: [8", ": line 1: "},
		{"a list", "- threads", "1:1: an experiment must be keys with values"},
		{"nothing", "", "x.yaml: it is empty"},
		{"two documents", "threads: 8\n---\nthreads: 9", "a second document begins here"},
	} {
		f, err := parseExperiment("x.yaml", []byte(c.text))
		if c.why == "a password in what cannot be parsed" && err == nil { // it is opened later
			_, err = f.configurations[0].bench.open()
		}
		e, ok := errors.AsType[*exitError](err)
		if !ok || e.code != exitUsage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.why, err, c.want)
		}
		if err != nil && strings.Contains(redact(err.Error()), "s3cret") {
			t.Errorf("%s: the password is in the error: %v", c.why, err)
		}
	}
}

// FuzzExperimentFile: whatever a file holds, it is read or refused as wrong usage.
func FuzzExperimentFile(f *testing.F) {
	_, text, _ := strings.Cut(newExperimentCommand().Example, "arrays.yaml:\n")
	fuzztest.Run(f, func(t testing.TB, text string) {
		if strings.Contains(text, "file:") || strings.Contains(text, "words") { // reads files of this machine
			return
		}
		file, err := parseExperiment("x.yaml", []byte(text))
		if e, ok := errors.AsType[*exitError](err); err != nil && (!ok || e.code != exitUsage) {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil && (len(file.configurations) == 0 || len(file.configurations) > maxConfigurations) {
			t.Errorf("%q: %d configurations", text, len(file.configurations))
		}
	}, text, "a: &a [*a]", "threads: [8", "factors: {threads: [1, 2]}", "configurations: {a: {<<: {threads: 8}}}", "? {}\n: 1")
}
