package fuzztest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMutate changes examples in every way there is, and the same way for the same seed.
func TestMutate(t *testing.T) {
	examples := []string{"order p95 < 200ms", "", "opm > 5", strings.Repeat("x", 100)}
	draw := func(seed uint64) map[string]bool {
		random := rand.New(rand.NewPCG(seed, 0))
		all := map[string]bool{}
		for range 2000 {
			text := string(mutate(random, nil, examples))
			assert.LessOrEqual(t, len(text), 400, "bytes of examples of 100")
			all[text] = true
		}
		return all
	}
	first := draw(1)
	assert.GreaterOrEqual(t, len(first), 1000, "different inputs of 2000")
	for text := range draw(1) {
		require.True(t, first[text], "%q is not drawn again", text)
	}
	assert.Empty(t, mutate(rand.New(rand.NewPCG(1, 1)), nil, []string(nil)), "of no example")
}

// TestKeep keeps what fuzzing found, quoted, once, and the shortest first; a corpus that was there stays.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	found, path := filepath.Join(dir, "found"), filepath.Join(dir, "testdata", "corpus", "FuzzX")
	require.NoError(t, os.Mkdir(found, 0o755))
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(found, name), []byte("go test fuzz v1\n"+text+"\n"), 0o644))
	}
	write("a", `string("longer\n\x00")`)
	write("b", `[]byte("\xff")`)
	write("c", `string("a")`+"\n"+`int(5)`) // of several arguments
	write("d", `string("`+strings.Repeat("x", maxSize+1)+`")`)
	want := []string{"\xff", "longer\n\x00"}
	for range 2 {
		require.NoError(t, keep(path, found))
		got, err := read(path)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
}

// FuzzNothing goes the way of every parser's test.
func FuzzNothing(f *testing.F) {
	Run(f, func(t testing.TB, text string) {
		assert.NotContains(t, text, "no such text, whatever is changed")
	}, "a", "b")
}
