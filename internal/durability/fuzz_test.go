package durability

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
)

func FuzzJournal(f *testing.F) {
	above := f.TempDir()
	fuzztest.Run(f, func(t testing.TB, text []byte) {
		file, err := os.CreateTemp(above, "")
		require.NoError(t, err)
		defer os.Remove(file.Name())
		_, err = file.Write(text)
		require.NoError(t, err)
		file.Close()
		all, err := Read(file.Name(), twos{})
		assert.True(t, err != nil || len(all) <= len(text), "%d bytes of entries of %d bytes", len(all), len(text))
	}, []byte("twos\n"), []byte("twos\n1234"))
}
