// Package simulate runs the functions that ds2 judges measurements by on simulated ones, of which
// the truth is known, and holds them to what docs/explanation/method.md says of them. With -write
// it writes the tables of a page.
package simulate

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"

	"ds2/internal/nightly"
)

var (
	replicates = flag.Int("replicates", 100, "simulated cases of each figure")
	write      = flag.String("write", "", "pages whose tables are written, with commas between")
)

// table is one of the page: rows of cells below a head, some of which are held to promises.
type table struct {
	rows [][]string
	promises
}

// row adds one, which says from how many replicates it is.
func (t *table) row(cells ...string) {
	t.rows = append(t.rows, append(cells, strconv.Itoa(*replicates)))
}

func (t *table) markdown() string {
	var b strings.Builder
	for i, row := range t.rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(&b, "|%s\n", strings.Repeat(" --- |", len(row)))
		}
	}
	return b.String()
}

var writing sync.Mutex // of pages

// simulated is the table that a test makes, with its head, and which is published when the test
// ends.
func simulated(t *testing.T, name string, head ...string) *table {
	t.Helper()
	nightly.Long(t, "simulates for seconds")
	t.Parallel()
	return another(t, name, head...)
}

// another is one more table of the same test.
func another(t *testing.T, name string, head ...string) *table {
	t.Helper()
	made := &table{[][]string{append(head, "replicates")}, newPromises(t)}
	t.Cleanup(func() { publish(t, name, made) })
	return made
}

// publish shows a table, and writes it to the page between its markers.
func publish(t *testing.T, name string, made *table) {
	t.Helper()
	writing.Lock()
	defer writing.Unlock()
	t.Logf("%s, %d replicates:\n%s", name, *replicates, made.markdown())
	if *write == "" {
		return
	}
	marked := regexp.MustCompile(
		fmt.Sprintf(`(?s)(<!-- simulated: %s -->\n).*?(<!-- end -->)`, regexp.QuoteMeta(name)),
	)
	for path := range strings.SplitSeq(*write, ",") {
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		if !marked.Match(page) {
			continue
		}
		text := marked.ReplaceAllString(
			string(page),
			"${1}"+strings.ReplaceAll(made.markdown(), "$", "$$")+"${2}",
		)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return
	}
	t.Errorf("none of %s has a place for the table %s", *write, name)
}

// cells is how many shares are held to a promise, at most, and errs how likely any of them looks
// broken by chance where all promises are kept.
const (
	cells = 900
	errs  = .05
)

// level is that of a share by itself (Bonferroni), and deviations as many standard errors.
var (
	level      = errs / float64(cells)
	deviations = distuv.UnitNormal.Quantile(1 - level)
)

// checked counts the shares that were held to a promise.
var checked atomic.Int64

// TestMain collects garbage seldom, as each case leaves little, and fails where the level is not
// that of as many shares as there are.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800)
	code := m.Run()
	if n := checked.Load(); n > cells {
		fmt.Printf("FAIL: %d shares are held to promises, and their level is that of %d\n", n, cells)
		code = 1
	}
	os.Exit(code)
}

// kept says whether something that is promised to happen in at most a share of all cases happened
// in no more of n simulated ones than it may by chance: by the binomial distribution, which has the
// error of as many replicates as there are, at a level that is corrected for all cells.
func kept(happened, n, promised float64) bool {
	checked.Add(1)
	return happened < 1 || mathext.RegIncBeta(happened, n-happened+1, promised) >= level
}

// promises are those that the cells of a table are held to.
type promises struct {
	t     *testing.T
	pools map[string]*pool
}

// pool is all cells of a promise together: what each may do by chance they do not do all.
type pool struct{ happened, cases, most float64 }

// newPromises holds each promise over all of its cells, too, when the test ends.
func newPromises(t *testing.T) promises {
	t.Helper()
	p := promises{t, map[string]*pool{}}
	t.Cleanup(func() {
		for what, all := range p.pools {
			assert.True(t, kept(all.happened, all.cases, all.most), "%s: in %s of %.0f cases of all cells",
				what, share(all.happened/all.cases), all.cases)
		}
	})
	return p
}

// hold fails where what happened in a share of the replicates of a cell is promised in at most
// another. Cells of the same experiments are no promise together: what tells them apart is in what.
func (p promises) hold(what string, happened, most float64, cell string, args ...any) {
	p.t.Helper()
	p.holdAmong(what, happened, float64(*replicates), most, cell, args...)
}

// holdAmong is hold for a share of n cases.
func (p promises) holdAmong(
	what string, happened, n, most float64, cell string, args ...any,
) {
	p.t.Helper()
	count := math.Round(happened * n)
	what = fmt.Sprintf("%s, at most in %s", what, share(most))
	assert.True(p.t, kept(count, math.Round(n), most), "%s: %s: in %s of %.0f",
		fmt.Sprintf(cell, args...), what, share(happened), n)
	if p.pools[what] == nil {
		p.pools[what] = &pool{most: most}
	}
	p.pools[what].happened += count
	p.pools[what].cases += math.Round(n)
}

// shares are in which share of the replicates each of some things happened.
func shares(each func() []bool) (all []float64) {
	for range *replicates {
		happened := each()
		all = append(all, make([]float64, len(happened)-len(all))...)
		for i, did := range happened {
			if did {
				all[i] += 1 / float64(*replicates)
			}
		}
	}
	return all
}

func randomOf(name string) *rand.Rand {
	seed := uint64(14695981039346656037)
	for _, c := range []byte(name) {
		seed = (seed ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, 30))
}

// share prints a share with three digits, without the leading 0.
func share(v float64) string {
	return strings.TrimPrefix(fmt.Sprintf("%.3f", v), "0")
}
