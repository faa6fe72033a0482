// Package fuzztest gives parsers malformed input, in two ways that share their examples: Go's
// fuzzing, which follows what the parser's code does, and changed examples by the million, which it
// does not look into and is a hundred times faster with. What the former found worth keeping is
// kept in testdata/corpus, a file for each parser, and is an example too.
//
// It knows no parser.
package fuzztest

import (
	_ "embed"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// inputs is how many changed examples each parser gets where DS2_TEST_INPUTS does not say.
const inputs = 2_000

// Run is the body of a fuzz test: it gives parse the examples and those of the corpus, then as many
// changed ones as DS2_TEST_INPUTS says, the same ones for the same DS2_TEST_SEED, and hands over to
// Go's fuzzing. parse is called concurrently and says what is wrong with Errorf; a panic is a fault
// too.
func Run[T string | []byte](f *testing.F, parse func(t testing.TB, input T), examples ...T) {
	f.Helper()
	corpus, _ := os.ReadFile(filepath.Join("testdata", "corpus", f.Name())) // there may be none
	for _, text := range readInputs(f, string(corpus)) {
		examples = append(examples, T(text))
	}
	for _, e := range examples {
		f.Add(e)
	}
	if guided := flag.Lookup("test.fuzz"); guided == nil || guided.Value.String() == "" {
		parseChanged(f, parse, examples)
	}
	f.Fuzz(func(t *testing.T, input T) { parse(t, input) })
}

// watched knows whether its test found a fault with the input under way.
type watched struct {
	testing.TB
	fault bool
}

func (w *watched) Errorf(format string, args ...any) {
	w.fault = true
	w.TB.Errorf(format, args...)
}

// parseChanged gives parse changed examples, on as many goroutines as there are CPUs. Each thousand
// is drawn from a separate seed, so that they are the same on any number of them.
func parseChanged[T string | []byte](f *testing.F, parse func(testing.TB, T), examples []T) {
	count := inputs
	if n, err := strconv.Atoi(os.Getenv("DS2_TEST_INPUTS")); err == nil {
		count = n
	}
	seed, _ := strconv.ParseUint(os.Getenv("DS2_TEST_SEED"), 10, 64)
	const batch = 1000
	begun := time.Now()
	tokens := readInputs(f, tokensText)
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for number := 0; number*batch < count && !f.Failed(); number++ {
		workers.Go(func() error {
			var text []byte
			random := rand.New(rand.NewPCG(seed, uint64(number)))
			for range min(batch, count-number*batch) {
				text = mutateExample(random, text[:0], examples, tokens)
				if !parseOne(f, parse, T(text)) {
					f.Errorf("this input, of %d bytes: %q", len(text), text)
					break
				}
			}
			return nil
		})
	}
	_ = workers.Wait() // f has what they found
	f.Logf("%d changed examples of seed %d in %s",
		count, seed, time.Since(begun).Round(time.Millisecond))
}

// parseOne gives parse one input; false where it found a fault.
func parseOne[T string | []byte](f *testing.F, parse func(testing.TB, T), input T) (ok bool) {
	w := watched{TB: f}
	defer func() {
		if r := recover(); r != nil {
			stack := make([]byte, 8<<10)
			f.Errorf("panic: %v\n%s", r, stack[:runtime.Stack(stack, false)])
			ok = false
		}
	}()
	parse(&w, input)
	return !w.fault
}

// tokens.txt is what parsers stumble over, as in a corpus.
//
//go:embed tokens.txt
var tokensText string

// readInputs reads texts of a corpus: a line for each, quoted as in Go.
func readInputs(t testing.TB, lines string) (inputs []string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		text, err := strconv.Unquote(strings.TrimSpace(line))
		require.NoError(t, err, line)
		inputs = append(inputs, text)
	}
	return inputs
}

// mutateExample appends to to one of the examples, or the beginning of one with the end of another,
// with up to four changes.
func mutateExample[T string | []byte](
	random *rand.Rand, to []byte, examples []T, tokens []string,
) []byte {
	if len(examples) == 0 {
		return to
	}
	pick := func() T { return examples[random.IntN(len(examples))] }
	to = append(to, pick()...)
	if random.IntN(4) == 0 {
		other := pick()
		to = append(to[:random.IntN(len(to)+1)], other[random.IntN(len(other)+1):]...)
	}
	for range random.IntN(5) {
		at := random.IntN(len(to) + 1)
		end := min(len(to), at+1+random.IntN(1+random.IntN(16)))
		switch random.IntN(6) {
		case 0: // a bit
			if at < len(to) {
				to[at] ^= 1 << random.IntN(8)
			}
		case 1: // a piece is missing
			to = slices.Delete(to, at, end)
		case 2: // a piece is there twice
			to = slices.Insert(to, at, slices.Clone(to[at:end])...)
		case 3: // a piece of another
			other := pick()
			from := random.IntN(len(other) + 1)
			to = slices.Insert(to, at, []byte(other[from:min(len(other), from+random.IntN(16))])...)
		case 4:
			to = slices.Replace(to, at, end, []byte(tokens[random.IntN(len(tokens))])...)
		default:
			to = slices.Insert(to, at, []byte(tokens[random.IntN(len(tokens))])...)
		}
	}
	return to
}
