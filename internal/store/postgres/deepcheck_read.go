package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ds2/internal/store"
)

// readPages are the pages of one read: usually 1 MiB.
const readPages = 128

// readingTime is what reading took.
type readingTime struct {
	reads          int
	total, longest time.Duration
	size           int64 // of one read
	device         int64 // bytes from the drives; negative: unknown
}

func (t readingTime) result(cached int64) *store.Reading {
	r := &store.Reading{
		Seconds: t.total.Seconds(), Cached: cached, Size: t.size,
		MeanMS: t.total.Seconds() * 1e3 / float64(max(t.reads, 1)), MaxMS: t.longest.Seconds() * 1e3,
	}
	if t.device >= 0 {
		r.Device = &t.device
	}
	return r
}

// readRelation reads every page into the server's cache by pg_prewarm, whereby the server verifies the page's header and, where
// they are on, its checksum. A page that is in the cache already is not read from storage: such pages are counted.
func (s *deepCheck) readRelation(ctx context.Context, r relation, t *readingTime) error {
	t.size = readPages * s.pageSize
	before := s.device.bytes()
	for _, f := range r.forks {
		for from := int64(0); from < f.pages; from += readPages {
			to := min(from+readPages, f.pages)
			start := time.Now()
			if err := s.readRange(ctx, r, f, from, to); err != nil {
				return err
			}
			took := time.Since(start)
			t.reads, t.total, t.longest = t.reads+1, t.total+took, max(t.longest, took)
			s.done += (to - from) * s.pageSize
			s.estimate.Did(float64(to - from))
			s.show(r)
		}
	}
	switch after := s.device.bytes(); {
	case after < 0 || before < 0:
		t.device = -1
	case t.device >= 0:
		t.device += after - before
	}
	return nil
}

// readRange reads pages from, ..., to-1 of a fork; where that fails, one by one, so that every damaged page is found.
func (s *deepCheck) readRange(ctx context.Context, r relation, f fork, from, to int64) error {
	cached, err := s.prewarm(ctx, r, f, from, to)
	switch {
	case err == nil:
		s.cached += cached * s.pageSize
		return nil
	case lost(err):
		return err
	}
	if err := s.undo(ctx); err != nil {
		return err
	}
	if to-from == 1 {
		s.damaged[r.oid] = true
		return s.found(r, fmt.Sprintf("%s block %d", f.name, from), err)
	}
	for page := from; page < to; page++ {
		if err := s.readRange(ctx, r, f, page, page+1); err != nil {
			return err
		}
	}
	return nil
}

// prewarm reads pages and tells how many were in the server's cache.
func (s *deepCheck) prewarm(ctx context.Context, r relation, f fork, from, to int64) (cached int64, err error) {
	statement := fmt.Sprintf("EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) SELECT %s.pg_prewarm(%s, 'buffer', '%s', %d, %d)",
		s.schemas["pg_prewarm"], r.regclass(), f.name, from, to-1)
	var text []byte
	if err := s.conn.QueryRowContext(ctx, statement).Scan(&text); err != nil {
		return 0, err
	}
	var plans []struct {
		Plan struct {
			Read int64 `json:"Shared Read Blocks"`
		}
	}
	if err := json.Unmarshal(text, &plans); err != nil || len(plans) != 1 {
		return 0, fmt.Errorf("read the plan %s: %w", text, err)
	}
	return max(0, to-from-plans[0].Plan.Read), nil
}
