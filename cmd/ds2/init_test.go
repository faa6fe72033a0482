package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var commentedKey = regexp.MustCompile(`(?m)^( *)# ([a-z-]+: .*)$`)

// TestInit: what it writes is an experiment as the flags say, and so it is with all that is commented out.
func TestInit(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("PASSWORD_6_SSD", "s3cret")
	t.Setenv("OWN", "x")
	for _, c := range []struct {
		why            string
		args           string
		configurations []string
		limits         int
	}{
		{"the least", "--target postgres://ds2@db1/ds2", []string{"target1"}, 0},
		{"two targets with factors", "--target '24 disks=postgres://ds2:${OWN}@db1/ds2' " +
			"--target '6 ssd=postgres://ds2:s3cret@db2/ds2' --threads 32,128 --until '2 %' --restore snapshot " +
			"--limit 'order p95 < 200ms' --limit exchange2013 --run-time 30m --size 80GB",
			[]string{"24 disks, threads 32", "24 disks, threads 128", "6 ssd, threads 32", "6 ssd, threads 128"}, 5},
		{"a range of runs, SQL Server", "--target sqlserver://ds2@db1?database=DS2&password=s3cret --runs 3..7 " +
			"--until 5% --limit 'errors < 1%'", []string{"target1"}, 1},
	} {
		t.Setenv("PASSWORD_TARGET1", "s3cret")
		file := strings.ReplaceAll(c.why, " ", "-") + ".yaml"
		_, stderr := ends(t, exitDone, words("init %s %s", file, c.args)...)
		require.NotContains(t, stderr, "s3cret", c.why)
		text, err := os.ReadFile(file)
		require.True(t, err == nil && !strings.Contains(string(text), "s3cret"), "%s: %v\n%s", c.why, err, text)
		f, err := readExperimentFile(file)
		require.NoError(t, err, "%s\n%s", c.why, text)
		var names []string
		for _, configuration := range f.configurations {
			names = append(names, configuration.Name)
		}
		assert.Equal(t, c.configurations, names, c.why)
		last := &f.configurations[len(names)-1].bench
		limits, err := last.parseLimits()
		require.NoError(t, err, c.why)
		assert.Len(t, limits, c.limits, c.why)
		if strings.Contains(c.args, "s3cret") {
			assert.Contains(t, last.target, "s3cret", c.why)
		}
		all := string(text)
		for _, m := range commentedKey.FindAllStringSubmatch(all, -1) {
			key, _, _ := strings.Cut(m[2], ":")
			// No file that is missing, and no key twice.
			if key != "device-record" && !strings.Contains(all, "\n"+m[1]+key+":") {
				all = strings.Replace(all, m[0], m[1]+m[2], 1)
			}
		}
		all = strings.ReplaceAll(all, "order: sequence", "order: random")
		_, err = parseExperiment("all", []byte(all))
		assert.NoError(t, err, "%s, with all:\n%s", c.why, all)
		assert.Contains(t, must(t, "experiment", file, "--plan"), c.configurations[0])
	}
	assert.Regexp(t, "^# An experiment", must(t, "init", "-", "--target", "postgres://ds2@db1/ds2"))
}
