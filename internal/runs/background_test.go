package runs

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
)

// noting is a database whose server notes I/O errors.
type noting struct {
	store.Database
	lines  []string
	err    error
	unseen error
}

func (n noting) Label() string { return "db1:1433/DS2" }

func (n noting) IOFaults(context.Context) (func(context.Context) ([]string, error), error) {
	return func(context.Context) ([]string, error) { return n.lines, n.err }, n.unseen
}

// TestIOFaultsMarkTheRun: what a server noted of failed I/Os while a run went on is in the run's
// warnings, a few lines of it.
func TestIOFaultsMarkTheRun(t *testing.T) {
	const slow = "SQL Server has encountered 4 occurrence(s) of I/O requests taking longer than 15 seconds to " +
		"complete on file [E:\\DS2\\cust_1.ndf] in database [DS2] (7)."
	for _, c := range []struct {
		why  string
		of   noting
		want int
		says string
	}{
		{"nothing", noting{}, 0, ""},
		{"one of 833", noting{lines: []string{slow}}, 1, slow},
		{
			"many",
			noting{lines: strings.Split("a b c d e f g h i", " ")},
			mostFaults + 1,
			"4 I/O errors more",
		},
		{
			"a login that may not read the error log",
			noting{unseen: errors.New("may not read the log")},
			1, "not all that it notes of I/O errors is known: may not read the log",
		},
		{"it does not tell", noting{err: errors.New("gone")}, 1, "is unknown: gone"},
	} {
		r := &Run{options: Options{Databases: []store.Database{c.of}}}
		found := r.watchFaults(t.Context())(t.Context())
		require.Len(t, found, c.want, c.why)
		if c.want > 0 {
			assert.Contains(t, found[c.want-1].Detail, c.says, c.why)
			assert.Equal(t, "db1:1433/DS2", found[0].Of, c.why)
		}
	}
}
