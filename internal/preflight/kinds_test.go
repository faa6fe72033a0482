package preflight

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/datatable"
	"ds2/internal/monitor"
	"ds2/internal/store"
)

// TestKindsHaveRows: each kind has a row of the table, and each row is a kind, so that a script
// finds a kind for each finding, and no finding is without words.
func TestKindsHaveRows(t *testing.T) {
	text, err := os.ReadFile("kinds.go")
	require.NoError(t, err)
	named := map[Kind]bool{monitor.MemoryHolds: true, monitor.Distorted: true}
	for _, match := range regexp.MustCompile(`Kind = "(.+)"`).FindAllSubmatch(text, -1) {
		named[Kind(match[1])] = true
	}
	for _, kind := range store.FindingKinds {
		named[Kind(kind.Name())] = true
	}
	assert.Equal(t, slices.Sorted(maps.Keys(named)), slices.Sorted(maps.Keys(kinds)))
	assert.Len(t, datatable.Rows(kindsTable, 5), len(kinds), "a kind has two rows")
	for kind, row := range kinds {
		assert.Contains(t, []State{OK, Warning, Failure, Skipped}, row.State, kind)
		assert.NotEmpty(t, row.What, kind)
		assert.NotEmpty(t, row.Found, kind)
		assert.False(t, row.State == OK && row.Do != "", "%s: nothing is to be done", kind)
	}
}

// TestSkippedAreCounted: a check counts once, whatever its name looks like.
func TestSkippedAreCounted(t *testing.T) {
	f := NewSkipped("h:1/a, h:1/b", "lock", "counters, of all")
	assert.Equal(t, 2, f.Skips)
	assert.Equal(t, "lock, counters, of all", f.Found)
}

// TestFindingsNameThings: the words of a finding name what it is about, whatever that looks like.
func TestFindingsNameThings(t *testing.T) {
	assert.Equal(t, Finding{
		Kind: "no right to call", What: "rights of h/{detail}", State: Failure,
		Found: "me may not call purchase",
		Do:    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA … TO "me", or connect as the owner`,
	}, NewFinding("no right to call", "h/{detail}", "me", "purchase"))
}
