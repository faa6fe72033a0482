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
	all, err := Read(twos{}, path) // nothing is lost where ds2 is killed now
	require.NoError(t, err)
	seen := map[uint16]bool{}
	for ; len(all) > 0; all = all[2:] {
		seen[binary.BigEndian.Uint16(all)] = true
	}
	require.Len(t, seen, users*each)
	require.NoError(t, j.Close())
}

func TestJournalCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	for _, text := range []string{"twos\n123", "ds2 journal 2\n"} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		_, err := Read(twos{}, path)
		require.ErrorContains(
			t,
			err,
			"read journal",
			"of %q something is missing, or it is another's",
			text,
		)
	}
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
		all, err := Read(twos{}, file.Name())
		assert.True(
			t,
			err != nil || len(all) <= len(text),
			"%d bytes of entries of %d bytes",
			len(all),
			len(text),
		)
	}, []byte("twos\n"), []byte("twos\n1234"))
}
