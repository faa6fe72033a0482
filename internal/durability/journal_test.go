package durability

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
	"ds2/internal/result"
	"ds2/internal/store"
	"ds2/internal/workload"
)

// twos is a workload whose entries have 2 bytes.
type twos struct{}

var _ workload.Acknowledger = twos{}

func (twos) Journal() (header string, entryBytes int) { return "twos\n", 2 }

func (twos) CheckJournal(
	context.Context,
	store.Database,
	[]byte,
	workload.Noted,
) ([]result.Check, error) {
	return nil, errors.New("it is not asked")
}

func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	j, err := Create(path, "twos\n")
	require.NoError(t, err)
	const users, each = 8, 5000
	var wg sync.WaitGroup
	for user := range users {
		wg.Go(func() {
			for i := range each {
				j.Note(binary.BigEndian.AppendUint16(nil, uint16(user*each+i)))
			}
		})
	}
	wg.Wait()
	all, torn, err := Read(twos{}, path) // nothing is lost where ds2 is killed now
	require.NoError(t, err)
	require.Zero(t, torn)
	seen := map[uint16]bool{}
	for ; len(all) > 0; all = all[2:] {
		seen[binary.BigEndian.Uint16(all)] = true
	}
	require.Len(t, seen, users*each)
	require.NoError(t, j.Close())
}

// TestTornJournal: a journal whose end is missing is evidence up to there, and one of another
// version is none.
func TestTornJournal(t *testing.T) {
	whole := filepath.Join(t.TempDir(), File)
	torn := filepath.Join(t.TempDir(), File)
	other := filepath.Join(t.TempDir(), File)
	require.NoError(t, os.WriteFile(whole, []byte("twos\nabcd"), 0o644))
	require.NoError(t, os.WriteFile(torn, []byte("twos\nefg"), 0o644))
	require.NoError(t, os.WriteFile(other, []byte("ds2 journal 2\n"), 0o644))
	entries, bytes, err := Read(twos{}, torn, whole)
	require.NoError(t, err)
	require.Equal(t, "efabcd", string(entries))
	require.Equal(t, 1, bytes)
	// What a file system had given its length, and not its bytes.
	require.NoError(t, os.WriteFile(torn, []byte("twos\ne\x00\x00\x00\x00\x00\x00"), 0o644))
	entries, bytes, err = Read(twos{}, torn)
	require.NoError(t, err)
	require.Equal(t, "e\x00", string(entries))
	require.Equal(t, 5, bytes)
	_, _, err = Read(twos{}, other)
	require.ErrorContains(t, err, "not a journal of this version")
}

func FuzzJournal(f *testing.F) {
	above := f.TempDir()
	fuzztest.Run(f, func(t testing.TB, text []byte) {
		file, err := os.CreateTemp(above, "")
		require.NoError(t, err)
		defer os.Remove(file.Name())
		_, err = file.Write(text)
		require.NoError(t, err)
		file.Close()
		all, _, err := Read(twos{}, file.Name())
		assert.True(
			t,
			err != nil || len(all) <= len(text),
			"%d bytes of entries of %d bytes",
			len(all),
			len(text),
		)
	}, []byte("twos\n"), []byte("twos\n1234"))
}
