package audit

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
