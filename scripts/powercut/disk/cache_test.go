package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// made is a cache over a separate medium.
func made(t *testing.T, anyOrder bool) (*Cache, *os.File) {
	t.Helper()
	medium, err := os.Create(filepath.Join(t.TempDir(), "medium"))
	require.NoError(t, err)
	t.Cleanup(func() { medium.Close() })
	require.NoError(t, medium.Truncate(16*block))
	return newCache(medium, time.Minute, anyOrder), medium
}

func fill(b byte, blocks int) []byte { return bytes.Repeat([]byte{b}, blocks*block) }

func put(t *testing.T, c *Cache, b byte, at, blocks int) {
	t.Helper()
	_, err := c.WriteAt(fill(b, blocks), int64(at)*block)
	require.NoError(t, err)
}

func expect(t *testing.T, why string, from io.ReaderAt, want []byte, at int) {
	t.Helper()
	got := make([]byte, len(want))
	_, err := from.ReadAt(got, int64(at)*block)
	require.NoError(t, err)
	assert.True(
		t,
		bytes.Equal(got, want),
		"%s: blocks begin with %d, want %d",
		why,
		got[0],
		want[0],
	)
}

func TestCache(t *testing.T) {
	for _, anyOrder := range []bool{false, true} {
		c, medium := made(t, anyOrder)
		put(t, c, 1, 0, 4)
		expect(t, "the host reads what it wrote", c, fill(1, 4), 0)
		expect(t, "a cut before the flush", medium, fill(0, 4), 0)
		require.NoError(t, c.Flush())
		expect(t, "a cut after the flush", medium, fill(1, 4), 0)
		put(t, c, 2, 1, 1)
		put(t, c, 3, 2, 1)
		put(t, c, 4, 1, 1)
		expect(t, "the host reads the newest", c, fill(4, 1), 1)
		require.NoError(t, c.WriteOut(time.Now().Add(-time.Second)))
		expect(t, "nothing is due", medium, fill(1, 4), 0)
		require.NoError(t, c.WriteOut(time.Now().Add(time.Hour)))
		expect(t, "all is due", medium, append(fill(4, 1), fill(3, 1)...), 1)
		assert.Equal(t, 0, len(c.dirty)+len(c.queue), "blocks are left")
	}
}

// TestCacheInOrder cuts the power after a part of the writes: what is there is what was written
// first.
func TestCacheInOrder(t *testing.T) {
	c, medium := made(t, false)
	put(t, c, 1, 0, 1)
	put(t, c, 2, 1, 1)
	put(t, c, 3, 0, 1)
	c.queue[0].due = time.Time{}
	c.queue[1].due = time.Time{}
	require.NoError(t, c.WriteOut(time.Now()))
	expect(t, "the first two", medium, append(fill(1, 1), fill(2, 1)...), 0)
}
