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
)

// places are where kinds are named, with what stands around a name: in the code, in an engine's SQL,
// where it is the first column or one of its cases, and in the template of SQL Server's findings, where a tab, an end of
// a line or of a condition follows it.
var places = map[string]string{
	"kinds.go":                                         `Kind = "(.+)"`,
	"../store/postgres/examine.go":                     `e\.Add\("([^"]+)"`,
	"../store/sqlserver/advise.go":                     `e\.Add\("([^"]+)"`,
	"../store/sqlserver/findings.tmpl":                 `(?m)(?:^|}})([A-Za-z][a-z -]+)(?:\t|{{e|$)`,
	"../../schema/postgres/database/obstacles.sql":     `SELECT '([^']+)'`,
	"../../schema/postgres/server/connection-room.sql": `(?:THEN|ELSE) '([a-z][a-z -]+)'`,
}

// TestKindsHaveRows: each kind that code, SQL or a template names has a row of the table, and each
// row is named, so that a script finds a kind for each finding, and no finding is without words.
func TestKindsHaveRows(t *testing.T) {
	named := map[Kind]bool{}
	for path, pattern := range places {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		found := regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1)
		assert.NotEmpty(t, found, path)
		for _, match := range found {
			named[Kind(match[1])] = true
		}
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

// TestFindingsNameThings: the words of a finding name what it is about, whatever that looks like.
func TestFindingsNameThings(t *testing.T) {
	assert.Equal(t, Finding{
		Kind: "no right to call", What: "rights of h/{detail}", State: Failure,
		Found: "me may not call purchase",
		Do:    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA … TO "me", or connect as the owner`,
	}, NewFinding("no right to call", "h/{detail}", "me", "purchase"))
}
