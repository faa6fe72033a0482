package main

import (
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"time"
)

// block is the unit in which the drive writes, in bytes: half a page of PostgreSQL's, so that a cut
// can tear one.
const block = 4096

// Cache is a drive's volatile write cache before its medium. What is in it and not on the medium is
// gone when this process is killed.
type Cache struct {
	medium *os.File      // what keeps its bytes without power
	delay  time.Duration // how long a block stays in the cache on average, without flushes
	// blocks go to the medium in any order; else in that in which they were written
	anyOrder bool

	mu    sync.Mutex
	dirty map[int64]*write // the newest write of each block that is not on the medium
	queue []*write         // in the order in which they came
}

type write struct {
	number int64
	data   []byte
	due    time.Time // on the medium
}

func newCache(medium *os.File, delay time.Duration, anyOrder bool) *Cache {
	return &Cache{medium: medium, delay: delay, anyOrder: anyOrder, dirty: map[int64]*write{}}
}

// ReadAt reads whole blocks.
func (c *Cache) ReadAt(p []byte, off int64) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, err := c.medium.ReadAt(p, off); err != nil {
		return n, err
	}
	for at := 0; at < len(p); at += block {
		if w, ok := c.dirty[(off+int64(at))/block]; ok {
			copy(p[at:], w.data)
		}
	}
	return len(p), nil
}

// WriteAt writes whole blocks into the cache.
func (c *Cache) WriteAt(p []byte, off int64) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for at := 0; at < len(p); at += block {
		w := &write{(off + int64(at)) / block, slices.Clone(p[at : at+block]), now.Add(c.delay)}
		if c.anyOrder {
			w.due = now.Add(time.Duration(2 * rand.Float64() * float64(c.delay)))
		}
		c.dirty[w.number] = w
		c.queue = append(c.queue, w)
	}
	return len(p), nil
}

func (c *Cache) writeOut(w *write) error {
	if c.dirty[w.number] == w {
		delete(c.dirty, w.number)
	}
	_, err := c.medium.WriteAt(w.data, w.number*block)
	return err
}

// Flush writes all blocks to the medium, as a host asks that wants them to be safe.
func (c *Cache) Flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.dirty {
		if err := c.writeOut(w); err != nil {
			return err
		}
	}
	c.queue = nil
	return nil
}

// WriteOut writes the blocks to the medium that are due.
func (c *Cache) WriteOut(now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	c.queue = slices.DeleteFunc(c.queue, func(w *write) bool {
		if err != nil || w.due.After(now) {
			return false
		}
		if !c.anyOrder || c.dirty[w.number] == w { // else a newer one has taken its place
			err = c.writeOut(w)
		}
		return true
	})
	return err
}
