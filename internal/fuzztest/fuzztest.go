// Package fuzztest gives parsers malformed input, in two ways that share their examples: Go's
// fuzzing, which follows what the parser's code does, and changed examples by the million, which it
// does not look into and is a hundred times faster with. What the former found worth keeping is
// kept in testdata/corpus, a file for each parser, and is an example too.
//
// It knows no parser.
package fuzztest

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// inputs is how many changed examples each parser gets where DS2_TEST_INPUTS does not say.
const inputs = 2_000

// Run is the body of a fuzz test: it gives parse the examples and those of the corpus, then as many
// changed ones as DS2_TEST_INPUTS says, the same ones for the same DS2_TEST_SEED, and hands over to
// Go's fuzzing. parse is called concurrently and says what is wrong with Errorf; a panic is a fault
// too. With DS2_TEST_FOUND, a directory in which Go's fuzzing keeps what it found for the tests of
// this package, that becomes the corpus instead.
func Run[T string | []byte](f *testing.F, parse func(t testing.TB, input T), examples ...T) {
	f.Helper()
	path := filepath.Join("testdata", "corpus", f.Name())
	if found := os.Getenv("DS2_TEST_FOUND"); found != "" {
		require.NoError(f, keepInput(path, filepath.Join(found, f.Name())))
	}
	corpus, err := readCorpus(path)
	require.NoError(f, err)
	for _, text := range corpus {
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
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			var text []byte
			for !f.Failed() {
				number := int(next.Add(1)) - 1
				if number*batch >= count {
					return
				}
				random := rand.New(rand.NewPCG(seed, uint64(number)))
				for range min(batch, count-number*batch) {
					text = mutateExample(random, text[:0], examples)
					if !parseOne(f, parse, T(text)) {
						f.Errorf("this input, of %d bytes: %q", len(text), text)
						return
					}
				}
			}
		})
	}
	workers.Wait()
	f.Logf(
		"%d changed examples of seed %d in %s",
		count,
		seed,
		time.Since(begun).Round(time.Millisecond),
	)
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

// tokens are what parsers stumble over.
var tokens = []string{
	"0",
	"-1",
	"1e309",
	"-0.0",
	"NaN",
	"Inf",
	"9223372036854775808",
	"18446744073709551615",
	"0x10",
	"1e-400",
	".",
	"%",
	"=",
	":",
	";",
	",",
	"/",
	"..",
	"<",
	">",
	"'",
	"\"",
	"\\",
	"\\u0000",
	"{",
	"}",
	"[",
	"]",
	"(",
	")",
	"null",
	"true",
	"{}",
	"[]",
	"\"\":",
	"&a ",
	"*a",
	"!!int ",
	"- ",
	"? ",
	"#",
	"\n",
	"\r\n",
	"\t",
	" ",
	"\x00",
	"\x1b[2J",
	"\xff",
	"\xc3",
	"é",
	"∞",
	"\u202e",
	"\u2028",
	"s",
	"m",
	"h",
	"ms",
	"MB",
	"TB",
	"p95",
	"--",
}

// mutateExample appends to to one of the examples, or the beginning of one with the end of another,
// with up to four changes.
func mutateExample[T string | []byte](random *rand.Rand, to []byte, examples []T) []byte {
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

// A corpus keeps a limited number of inputs of limited length: the shortest, which are most
// different for their size.
const (
	maxKept = 200
	maxSize = 1 << 10
)

// keepInput adds to the corpus at path what Go's fuzzing keeps in a directory, one file for each
// input.
func keepInput(path, found string) error {
	files, err := filepath.Glob(filepath.Join(found, "*"))
	if err != nil || len(files) == 0 {
		return err
	}
	all, err := readCorpus(path)
	if err != nil {
		return err
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		if len(lines) != 2 || lines[0] != "go test fuzz v1" {
			continue
		}
		_, quoted, _ := strings.Cut(strings.TrimSuffix(lines[1], ")"), "(")
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(text) <= maxSize {
			all = append(all, text)
		}
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(len(a)-len(b), strings.Compare(a, b))
	})
	all = slices.Compact(all)
	var b strings.Builder
	for _, text := range all[:min(len(all), maxKept)] {
		fmt.Fprintf(&b, "%+q\n", text)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// readCorpus reads a corpus, if there is one: a line for each input, quoted as in Go.
func readCorpus(path string) (all []string, err error) {
	file, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	defer file.Close()
	in := bufio.NewScanner(file)
	for in.Scan() {
		text, err := strconv.Unquote(in.Text())
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, in.Text(), err)
		}
		all = append(all, text)
	}
	return all, in.Err()
}
