package mailbox

import (
	"bytes"
	"os"
	"testing"

	"ds2/internal/fuzztest"

	"github.com/stretchr/testify/require"
)

// TestLiveFile: what was saved is read again, and what is not whole is refused.
func TestLiveFile(t *testing.T) {
	l := NewLive(3)
	for n := range uint64(1001) {
		l.Add(n)
	}
	for n := range uint64(1001) {
		s := l.Share(int(n % 3))
		switch n % 7 {
		case 1:
			s.Delete(n)
		case 2:
			s.Replace(n)
		case 3:
			s.Insert(s.Fresh())
		case 4:
			s.Doubt(n)
		}
	}
	dir := t.TempDir()
	require.NoError(t, l.Save(dir, 2))
	again, err := LoadLive(dir, 2)
	require.NoError(t, err)
	if again.End() != l.End() || again.Records() != l.Records() {
		t.Errorf("end %d, %d records; want %d, %d", again.End(), again.Records(), l.End(), l.Records())
	}
	for n := range l.End() {
		if again.Has(n) != l.Has(n) || again.Written(n) != l.Written(n) || again.InDoubt(n) != l.InDoubt(n) {
			t.Fatalf("record %d: %v, %v, %v", n, again.Has(n), again.Written(n), again.InDoubt(n))
		}
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
	l, dir := NewLive(3), f.TempDir()
	for n := range uint64(100) {
		l.Add(n)
	}
	require.NoError(f, l.Save(dir, 0))
	whole, err := os.ReadFile(liveFile(dir, 0))
	require.NoError(f, err)
	fuzztest.Run(f, func(_ testing.TB, b []byte) { _, _ = parseLive(b) }, []byte(liveHeader), whole)
}
