package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var commentedKey = regexp.MustCompile(`(?m)^( *)# ([a-z-]+: .*)$`)

// TestInit: what it prints is an experiment, and so it is with all that is commented out.
func TestInit(t *testing.T) {
	t.Setenv("PASSWORD_6_SSD", "s3cret")
	t.Setenv("PASSWORD_DB", "s3cret")
	t.Setenv("OWN", "x")
	t.Setenv("DS2_TARGET", "postgres://db3/ds2") // is for other commands, whose targets have no names
	for _, c := range []struct {
		args           string
		configurations []string
	}{
		{"", []string{"disks", "ssd"}},
		{
			"--target '24 disks=postgres://ds2:${OWN}@db1/ds2' --target '6 ssd=postgres://ds2:s3cret@db2/ds2'",
			[]string{"24 disks", "6 ssd"},
		},
		{"--target db=sqlserver://ds2@db1?database=DS2&password=s3cret", []string{"db"}},
	} {
		text := must(t, words("init %s", c.args)...)
		require.NotContains(t, text, "s3cret")
		f, err := readExperimentFile(t.Context(), textFile(t, "arrays.yaml", text))
		require.NoError(t, err, text)
		var names []string
		for _, configuration := range f.configurations {
			names = append(names, configuration.Name)
		}
		assert.Equal(t, c.configurations, names)
		last := f.configurations[len(names)-1].bench.target
		assert.Equal(t, strings.Contains(c.args, "s3cret"), strings.Contains(last, "s3cret"), last)
		for _, m := range commentedKey.FindAllStringSubmatch(text, -1) {
			key, _, _ := strings.Cut(m[2], ":")
			// No file that is missing, and no key twice.
			if key != "device-record" && key != "factors" && key != "yaml-language-server" &&
				!strings.Contains(text, "\n"+m[1]+key+":") {
				text = strings.ReplaceAll(text, m[0], m[1]+m[2])
			}
		}
		require.Contains(t, text, "\nprofile: ")
		_, err = parseExperiment(t.Context(), "all", []byte(text))
		assert.NoError(t, err, "with all:\n%s", text)
	}
}
