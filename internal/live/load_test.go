package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"ds2/datagen"
	"ds2/internal/progress"
)

// TestLoadShow follows a load second by second.
func TestLoadShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		facts := func(rows, mb string) []Fact {
			return []Fact{{Name: "rows", Value: rows}, {Name: "MB of CSV", Value: mb}}
		}
		l := NewLoad(progress.Ignore)
		show := l.Show("size S into db1")
		assert.Equal(t, "time since the load began", show.Since)
		l.Tell("data", 0, 0)
		assert.Equal(
			t,
			Frame{Headline: "loading", Phase: "data", Facts: facts("0", "0")},
			show.Now(),
			"at its begin",
		)
		l.Copied(datagen.Orders, 1e6, 0) // by an unfinished load, at no rate of this one
		l.Copied(datagen.Orders, 4000, 2e6)
		l.Copied(datagen.Customers, 1000, 2e6)
		l.Tell("data", 0, 100)
		time.Sleep(time.Second)
		l.Tell("data, vacuum orders, vacuum products", 25, 100)
		time.Sleep(time.Second)
		want := Frame{
			Headline: "25 %",
			Phase:    "data",
			Doing:    "vacuum orders, vacuum products",
			Left:     "about 2s left",
			Share:    new(.25),
			Facts:    facts("1,005,000", "4"),
			At:       2,
			Values:   []*float64{new(2500.), new(2.)},
		}
		assert.Equal(t, want, show.Now(), "after two seconds")
		want.Values = nil
		assert.Equal(t, want, show.Now(), "asked twice within a second")
		l.Tell("indexes", 30, 100)
		time.Sleep(time.Second)
		f := show.Now()
		assert.Equal(t, []*float64{new(0.), new(0.)}, f.Values, "while indexes are built")
		assert.Equal(t, []string{"", "indexes"}, []string{f.Doing, f.Phase})
	})
}
