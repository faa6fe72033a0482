package audit

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var statementsFile = flag.String("statements", "",
	"file that TestStatements writes every kind of statement to, for a parser of another dialect")

// TestStatements writes the audit's SQL for .ci/tsql, and looks whether all of it could be
// formatted.
func TestStatements(t *testing.T) {
	spans := []span{{lowest, 50_000}, {100_000, 150_000}, {150_000, highest}}
	q := question{
		Where:       "1 = 1",
		WhereOrders: columnWithin("o.orderid", spans...),
		WhereLines:  columnWithin("l.orderid", spans...),
		Customers:   10,
		Products:    10,
		Computed:    100,
		Run:         bounds{1, 2},
		First:       8,
		PartOrders:  maxPart,
		Column:      "title",
		Categories:  categoryNames,
	}
	statements := []string{
		askWithin("disagreeing", foreignKey{}, spans...),
		askWithin("another's", foreignKey{}, spans...),
	}
	for _, name := range []string{
		"highest keys", "sales", "inventory", "products", "customers", "orders", "categories",
		"strangers", "unsound sales", "pass over orders", "pass over lines", "pass over history",
		"title or actor",
	} {
		q.New = !q.New
		statements = append(statements, q.ask(name))
	}
	statements = append(statements, q.ask("pass over lines"))
	for _, key := range smallKeys {
		statements = append(statements, key.orphans("1 = 1"))
	}
	for _, key := range largeKeys {
		statements = append(statements, askWithin("orphans", key, spans...))
	}
	text := strings.Join(statements, ";\n") + ";\n"
	assert.NotContains(t, text, "<no value>", "a statement was not formatted")
	if *statementsFile != "" {
		require.NoError(t, os.WriteFile(*statementsFile, []byte(text), 0o600))
	}
}

func TestInterleave(t *testing.T) {
	for _, c := range []struct {
		why  string
		a, b int
		want string
	}{
		{"few among many", 2, 6, "abbbabbb"},
		{"as many", 3, 3, "ababab"},
		{"many among few", 5, 2, "abaabaa"},
		{"none of one kind", 0, 2, "bb"},
		{"none of the other", 2, 0, "aa"},
	} {
		kinds := func(name string, n int) (tasks []task) {
			for range n {
				tasks = append(tasks, task{name: name})
			}
			return tasks
		}
		var got strings.Builder
		for _, task := range interleave(kinds("a", c.a), kinds("b", c.b)) {
			got.WriteString(task.name)
		}
		assert.Equal(t, c.want, got.String(), "%s: %s", c.why, &got)
	}
}
