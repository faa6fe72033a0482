package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCache(t *testing.T) {
	for _, anyOrder := range []bool{false, true} {
		medium, err := os.Create(filepath.Join(t.TempDir(), "medium"))
		require.NoError(t, err)
		defer medium.Close()
		require.NoError(t, medium.Truncate(16*block))
		c := newCache(medium, time.Minute, anyOrder)
		fill := func(b byte, n int) []byte { return bytes.Repeat([]byte{b}, n*block) }
		put := func(b byte, at, n int) {
			t.Helper()
			if _, err := c.WriteAt(fill(b, n), int64(at)*block); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(why string, from interface {
			ReadAt([]byte, int64) (int, error)
		}, want []byte, at int) {
			t.Helper()
			got := make([]byte, len(want))
			if _, err := from.ReadAt(got, int64(at)*block); err != nil || !bytes.Equal(got, want) {
				t.Errorf("any order %v, %s: blocks begin with %d, want %d (%v)", anyOrder, why, got[0], want[0], err)
			}
		}
		put(1, 0, 4)
		expect("the host reads what it wrote", c, fill(1, 4), 0)
		expect("a cut before the flush", medium, fill(0, 4), 0)
		require.NoError(t, c.Flush())
		expect("a cut after the flush", medium, fill(1, 4), 0)
		put(2, 1, 1)
		put(3, 2, 1)
		put(4, 1, 1)
		expect("the host reads the newest", c, fill(4, 1), 1)
		require.NoError(t, c.WriteOut(time.Now().Add(-time.Second)))
		expect("nothing is due", medium, fill(1, 4), 0)
		require.NoError(t, c.WriteOut(time.Now().Add(time.Hour)))
		expect("all is due", medium, append(fill(4, 1), fill(3, 1)...), 1)
		assert.Equal(t, 0, len(c.dirty)+len(c.queue), "blocks are left")
	}
}

// TestCacheInOrder cuts the power after a part of the writes: what is there is what was written first.
func TestCacheInOrder(t *testing.T) {
	medium, err := os.Create(filepath.Join(t.TempDir(), "medium"))
	require.NoError(t, err)
	defer medium.Close()
	require.NoError(t, medium.Truncate(4*block))
	c := newCache(medium, time.Minute, false)
	for i, b := range []byte{1, 2, 3} { // block 0, block 1, block 0 again
		if _, err := c.WriteAt(bytes.Repeat([]byte{b}, block), int64(i%2)*block); err != nil {
			t.Fatal(err)
		}
	}
	c.queue[0].due, c.queue[1].due = time.Time{}, time.Time{}
	require.NoError(t, c.WriteOut(time.Now()))
	got := make([]byte, 2*block)
	if _, err := medium.ReadAt(got, 0); err != nil || got[0] != 1 || got[block] != 2 {
		t.Errorf("blocks hold %d and %d, want 1 and 2 (%v)", got[0], got[block], err)
	}
}
