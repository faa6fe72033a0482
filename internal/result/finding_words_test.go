package result_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/result"
)

// TestWhoseFinding: runs are named where the finding is not one of all.
func TestWhoseFinding(t *testing.T) {
	for want, runs := range map[string][]string{
		"all 4 runs of ssd: ":                 {"run-1", "run-2", "run-3", "run-4"},
		"2 of 4 runs of ssd (run-1, run-4): ": {"run-1", "run-4"},
	} {
		f := result.NewFinding(result.WideInterval, "of the result is").
			With("half", .08).
			With("most", .05)
		f.Configuration = "ssd"
		f.Runs = runs
		f.OfRuns = 4
		assert.Equal(t, want+"the interval of the result is ± 8 %, more than ± 5 %", f.Words())
	}
}

// What several configurations have in the same words is said once, and no more than that.
func TestOfAll(t *testing.T) {
	one := func(configuration, of string, runs ...string) result.Finding {
		f := result.NewFinding(result.SingleRun, "").About(of)
		f.Configuration = configuration
		f.Runs = runs
		f.OfRuns = 2
		return f
	}
	of := func(configuration string) result.Finding {
		f := result.NewFinding(result.NotStorage, "")
		f.Configuration = configuration
		return f
	}
	all := result.OfAll([]result.Finding{
		of("a"), one("a", "", "a/1", "a/2"), one("b", "", "b/1"), of("b"), of(""), of("c"),
		one("c", "", "c/1", "c/2"), one("d", "server", "d/1", "d/2"),
	})
	var whose []string
	for _, f := range all {
		whose = append(whose, f.Configuration)
	}
	assert.Equal(t, []string{"a, b, c", "a, c", "b", "", "d"}, whose)
	assert.Contains(t, all[1].Words(), "all 2 runs of a, c: ")
}

func TestWordsOfWhatALoadMade(t *testing.T) {
	for words, change := range map[string]result.Change{
		"table log was not there when the database was loaded (permanent)":          {After: "permanent"},
		"table log was there when the database was loaded, and is gone (permanent)": {Before: "permanent"},
		`table log is "unlogged", and was "permanent" when the database was loaded`: {Before: "permanent", After: "unlogged"},
	} {
		change.What = "table log"
		change.When = result.SinceLoad
		assert.Equal(t, words, change.Words())
	}
}
