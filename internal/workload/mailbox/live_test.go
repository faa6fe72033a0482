package mailbox

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
)

// TestNoRecordTwice plays many users at once on a store that is only a set: no two of them ever
// touch one record, and every record is touched by a user.
func TestNoRecordTwice(t *testing.T) {
	const users, records = 7, 1000
	l := NewLive(users)
	held := map[uint64]bool{}
	for n := range uint64(records) {
		l.AddRecord(n)
		held[n] = true
	}
	owner := map[uint64]int{}
	random := rand.New(rand.NewPCG(1, 2))
	mix := profiles[0].Mix
	for range 200_000 {
		user := random.IntN(users)
		s := l.ShareOf(user)
		n := uint64(0)
		op := mix.DrawOperation(random)
		if op == Insert || s.records == 0 {
			n = s.FreshNumber()
			require.False(t, held[n], "record %d is inserted twice", n)
			held[n] = true
			s.NoteInsert(n)
		} else {
			n, _ = s.PickRecord(random)
			require.True(t, held[n], "record %d is touched and does not exist", n)
			switch op {
			case Replace:
				s.NoteReplace(n)
			case Delete:
				delete(held, n)
				s.NoteDelete(n)
			}
		}
		if other, known := owner[n]; known {
			require.Equal(t, other, user, "two users touch record %d", n)
		}
		owner[n] = user
	}
	for n := range l.EndOfNumbers() {
		require.Equal(t, held[n], l.HasRecord(n), "record %d", n)
	}
	assert.EqualValues(t, len(held), l.CountRecords(), "records")
	for n := range uint64(records) {
		_, touched := owner[n]
		assert.True(t, touched, "record %d was never touched", n)
	}
}

// TestPickIsUniform: each record is as likely as any other, with all numbers in use and with few.
func TestPickIsUniform(t *testing.T) {
	for _, every := range []uint64{1, 3, 20} {
		l := NewLive(1)
		s := l.ShareOf(0)
		const records = 200
		for n := range uint64(records * every) {
			l.AddRecord(n)
			if n%every != 0 {
				s.NoteDelete(n)
			}
		}
		counts := map[uint64]int{}
		random := rand.New(rand.NewPCG(3, every))
		const picks = 200_000
		for range picks {
			n, ok := s.PickRecord(random)
			require.True(t, ok && l.HasRecord(n), "pick %d, %v", n, ok)
			counts[n]++
		}
		const mean = float64(picks) / records
		for n, c := range counts {
			assert.InDelta(
				t,
				mean,
				c,
				6*math.Sqrt(mean),
				"one number in %d in use: picks of record %d",
				every,
				n,
			)
		}
		assert.Len(t, counts, records, "one number in %d in use", every)
	}
}

func TestPickOfFew(t *testing.T) {
	l := NewLive(2)
	for n := range uint64(100_000) {
		l.AddRecord(n)
		if n != 54321 {
			l.ShareOf(int(n % 2)).NoteDelete(n)
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	n, ok := l.ShareOf(1).PickRecord(random)
	assert.True(t, ok && n == 54321, "the only record: %d, %v", n, ok)
	_, ok = l.ShareOf(0).PickRecord(random)
	assert.False(t, ok, "a record of a user who has none")
}

// TestInDoubt: a record of unknown existence is not touched again, and its number not used again.
func TestInDoubt(t *testing.T) {
	l := NewLive(1)
	s := l.ShareOf(0)
	l.AddRecord(0)
	s.NoteDoubt(s.FreshNumber())
	assert.True(t, s.FreshNumber() == 2 && l.InDoubt(1) && !l.HasRecord(1), "an insertion in doubt")
	s.NoteDoubt(0)
	assert.True(t, l.InDoubt(0) && !l.HasRecord(0) && l.CountRecords() == 0, "a deletion in doubt")
}

// TestMemory: seven million records, a seventh more inserted and all of them written, take the
// driver at most 64 MiB.
func TestMemory(t *testing.T) {
	const records, users, most = 7_000_000, 64, 64 << 20
	before := heap()
	l := NewLive(users)
	for n := range uint64(records) {
		l.AddRecord(n)
	}
	for n := range uint64(records + 1_000_000) {
		s := l.ShareOf(int(n % users))
		if n < records {
			s.NoteReplace(n)
		} else {
			s.NoteInsert(n)
		}
	}
	used := heap() - before
	t.Logf("%d records: %.1f MiB", records, float64(used)/(1<<20))
	assert.LessOrEqual(t, used, int64(most), "bytes")
	runtime.KeepAlive(l)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestLiveFile: what was saved is read again, and what is not whole is refused.
func TestLiveFile(t *testing.T) {
	l := NewLive(3)
	for n := range uint64(1001) {
		l.AddRecord(n)
	}
	for n := range uint64(1001) {
		s := l.ShareOf(int(n % 3))
		switch n % 7 {
		case 1:
			s.NoteDelete(n)
		case 2:
			s.NoteReplace(n)
		case 3:
			s.NoteInsert(s.FreshNumber())
		case 4:
			s.NoteDoubt(n)
		}
	}
	dir := t.TempDir()
	require.NoError(t, l.SaveRecords(dir, 2))
	again, err := LoadLive(dir, 2)
	require.NoError(t, err)
	assert.Equal(t, l.EndOfNumbers(), again.EndOfNumbers())
	assert.Equal(t, l.CountRecords(), again.CountRecords())
	for n := range l.EndOfNumbers() {
		of := func(l *Live) [3]bool { return [...]bool{l.HasRecord(n), l.WasWritten(n), l.InDoubt(n)} }
		require.Equal(t, of(l), of(again), "record %d", n)
	}
	whole, err := os.ReadFile(liveFile(dir, 2))
	require.NoError(t, err)
	for i := range whole {
		bad := bytes.Clone(whole)
		bad[i] ^= 4
		_, err := parseLive(bad)
		require.Error(t, err, "a wrong bit in byte %d is not seen", i)
		_, err = parseLive(whole[:i])
		require.Error(t, err, "a file of %d of %d bytes is taken", i, len(whole))
	}
}

func FuzzParseLive(f *testing.F) {
	l := NewLive(3)
	dir := f.TempDir()
	for n := range uint64(100) {
		l.AddRecord(n)
	}
	require.NoError(f, l.SaveRecords(dir, 0))
	whole, err := os.ReadFile(liveFile(dir, 0))
	require.NoError(f, err)
	fuzztest.Run(f, func(_ testing.TB, b []byte) { _, _ = parseLive(b) }, []byte(liveHeader), whole)
}
