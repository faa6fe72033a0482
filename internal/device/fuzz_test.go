package device

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
)

func FuzzFio(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	require.True(f, err == nil && len(files) != 0, "no output of fio in testdata")
	var examples [][]byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		examples = append(examples, text)
	}
	mixed := job{rw: "randrw", block: 8192, depth: 4}
	fuzztest.Run(f, func(t testing.TB, text []byte) { parse(text, mixed) }, examples...)
}
