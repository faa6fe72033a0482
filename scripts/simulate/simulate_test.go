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
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/nightly"
)

var (
	replicates = flag.Int("replicates", 100, "simulated cases of each figure")
	write      = flag.String("write", "", "pages whose tables are written, with commas between")
)

// table is one of the page: rows of cells below a head.
type table struct{ rows [][]string }

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
	made := &table{[][]string{append(head, "replicates")}}
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

// within says whether a share that was simulated lies between two bounds, as far as the replicates
// can tell: three standard errors.
func within(share, low, high float64) bool {
	slack := 3 * math.Sqrt(.25*.25/float64(*replicates)) // of a share of about .94
	return share >= low-slack && share <= high+slack
}

// kept says whether a share that was simulated is at most what was promised, as far as the
// replicates can tell: three standard errors.
func kept(share, promised float64) bool {
	return share <= promised+3*math.Sqrt(promised*(1-promised)/float64(*replicates))
}

// keptAmong says whether a share of those that something was said of, as a share of the replicates,
// is at most .06.
func keptAmong(share, said float64) bool {
	return share <= .06+3*math.Sqrt(.06*.94/float64(*replicates)/max(1e-9, said))
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
