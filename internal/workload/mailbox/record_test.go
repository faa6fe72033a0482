package mailbox

import (
	"bytes"
	"compress/flate"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestKeysFallOnRandomLeaves: records that come one after the other have keys that lie far apart,
// no two the same, and their numbers can be told from their keys.
func TestKeysFallOnRandomLeaves(t *testing.T) {
	const records, leaves = 100_000, 100
	s := Shape{Mailboxes: 500, Seed: 42}
	seen := map[Key]bool{}
	perMailbox := make([]int, s.Mailboxes+1)
	perFolder := make([]int, foldersOfMailbox+1)
	near := 0
	last := 0
	for n := range uint64(records) {
		k := s.KeyOf(n)
		require.False(t, seen[k], "key %v comes twice", k)
		seen[k] = true
		require.Equal(t, n, s.NumberOf(k.Message), "the number of %v", k)
		perMailbox[k.Mailbox]++
		perFolder[k.Folder]++
		leaf := int(k.Mailbox-1) * leaves / s.Mailboxes
		if leaf == last {
			near++
		}
		last = leaf
	}
	for name, counts := range map[string][]int{"mailbox": perMailbox, "folder": perFolder} {
		mean := float64(records) / float64(len(counts)-1)
		for i, n := range counts[1:] {
			assert.InDelta(t, mean, n, 6*math.Sqrt(mean), "records of %s %d", name, i+1) // 6 σ
		}
	}
	assert.LessOrEqual(
		t,
		near,
		2*records/leaves,
		"records in the same hundredth of the keys as the one before",
	)
}

// TestRecord: a record can be made again, has nothing that could be compressed, and tells where a
// bit is wrong.
func TestRecord(t *testing.T) {
	s := Shape{Mailboxes: 5, Seed: 1}
	var r, again Record
	s.FillRecord(&r, 7, 3)
	s.FillRecord(&again, 7, 3)
	require.Equal(t, r, again, "the same record")
	require.NoError(t, r.CheckSum())
	for name, other := range map[string]func(){
		"number": func() { s.FillRecord(&again, 8, 3) },
		"flags":  func() { s.FillRecord(&again, 7, 4) },
		"seed":   func() { Shape{5, 2}.FillRecord(&again, 7, 3) },
	} {
		other()
		assert.False(t, bytes.Equal(r.Body, again.Body), "another %s makes the same body", name)
	}
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestCompression)
	w.Write(r.Body)
	w.Close()
	assert.GreaterOrEqual(t, packed.Len(), BodySize, "a body")
	for name, damage := range map[string]func(*Record){
		"a bit of the body":  func(r *Record) { r.Body[6999] ^= 1 },
		"the flags":          func(r *Record) { r.Flags++ },
		"the key":            func(r *Record) { r.Message++ },
		"a body cut short":   func(r *Record) { r.Body = r.Body[:6999] },
		"the sum in the row": func(r *Record) { r.Sum++ },
	} {
		s.FillRecord(&r, 7, 3)
		damage(&r)
		assert.ErrorIs(t, r.CheckSum(), ErrDamaged, name)
	}
}

func TestSize(t *testing.T) {
	assert.NoError(t, Size{500, 250 << 20}.CheckSize(), "the published one")
	for want, s := range map[string]Size{
		"0 mailboxes":      {0, 250 << 20},
		"524288 bytes":     {500, 1 << 19},
		"more or larger":   {2, 1 << 20},
		"fewer or smaller": {10_000_000, 1 << 40},
	} {
		assert.ErrorContains(t, s.CheckSize(), want)
	}
}
