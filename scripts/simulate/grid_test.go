package simulate

import (
	_ "embed"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/datatable"
)

//go:embed grid.tsv
var gridTable string

// gridRow is what one table simulates of one factor, for a promise.
type gridRow struct{ promise, table, factor, levels, why string }

func gridRows() (all []gridRow) {
	for _, f := range datatable.Rows(gridTable, 5) {
		all = append(all, gridRow{f[0], f[1], f[2], f[3], f[4]})
	}
	return all
}

func split(levels string) []string { return strings.Split(levels, "; ") }

// levelsOf are those of a factor that a table has.
func levelsOf(t *testing.T, table, factor string) (levels []string) {
	t.Helper()
	for _, row := range gridRows() {
		if row.table == table && row.factor == factor && levels == nil {
			levels = split(row.levels)
		}
	}
	require.NotEmpty(t, levels, "grid.tsv: the %s of %s", factor, table)
	return levels
}

func numbersOf(t *testing.T, table, factor string) (all []float64) {
	t.Helper()
	for _, text := range levelsOf(t, table, factor) {
		v, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		all = append(all, v)
	}
	return all
}

// asked are the levels that every promise is held at, each with a word that tells it.
var asked = map[string][]string{
	"noise":          {"0.5", "1", "2", "3", "5", "10"},
	"configurations": {"2", "3", "4", "8"},
	"blocks":         {"5", "6", "9"},
	"benches":        {"3", "5"},
	"disturbance": {
		"no disturbance", "drift", "job", "day's", "one phase", "a random phase", "cold", "stall",
	},
}

// TestGrid: each promise is simulated at every level of every factor that can touch it.
func TestGrid(t *testing.T) {
	touches := func(promise, factor string) (levels []string, untouched bool) {
		for _, row := range gridRows() {
			if row.promise == promise && row.factor == factor {
				untouched = untouched || row.table == "-" && row.levels == ""
				levels = append(levels, split(row.levels)...)
			}
		}
		return levels, untouched
	}
	for _, row := range gridRows() {
		assert.Contains(t, asked, row.factor)
		assert.Equal(t, row.table == "-", row.why != "", "%+v", row)
		for factor, levels := range asked {
			has, untouched := touches(row.promise, factor)
			for _, level := range levels {
				within := func(has string) bool {
					return has == level || factor == "disturbance" && strings.Contains(has, level)
				}
				assert.True(t, untouched || slices.ContainsFunc(has, within),
					"%s: no row at %s %s", row.promise, factor, level)
			}
		}
	}
}

// disturbances are what befalls the runs of an experiment, in the logarithm of their figures.
var disturbances = map[string]func(random *rand.Rand) func(run int) float64{
	"no disturbance": func(*rand.Rand) func(int) float64 {
		return func(int) float64 { return 0 }
	},
	"drift of 3 % a run": func(*rand.Rand) func(int) float64 {
		return func(run int) float64 { return .03 * float64(run) }
	},
	"a job of −5 % every fourth run": func(*rand.Rand) func(int) float64 {
		return func(run int) float64 {
			if run%4 == 0 {
				return math.Log1p(-.05)
			}
			return 0
		}
	},
	"a day's effect of 2 %": func(random *rand.Rand) func(int) float64 {
		days := map[int]float64{} // of four runs each
		return func(run int) float64 {
			if _, known := days[run/4]; !known {
				days[run/4] = .02 * random.NormFloat64()
			}
			return days[run/4]
		}
	},
	"one run in ten stalls, −10 %": func(random *rand.Rand) func(int) float64 {
		return func(int) float64 {
			if random.Float64() < .1 {
				return math.Log1p(-.1)
			}
			return 0
		}
	},
}
