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

// read reads every page into the server's cache by pg_prewarm, whereby the server verifies the page's header and, where
// they are on, its checksum. A page that is in the cache already is not read from storage: such pages are counted.
func (s *deepCheck) read(ctx context.Context) error {
	var reads int
	var total, longest time.Duration
	var done int64
	before := s.device.bytes()
	for _, r := range s.relations {
		for _, f := range r.forks {
			for from := int64(0); from < f.pages; from += readPages {
				to := min(from+readPages, f.pages)
				start := time.Now()
				if err := s.readRange(ctx, r, f, from, to); err != nil {
					return fmt.Errorf("read %s: %w", r.name, err)
				}
				took := time.Since(start)
				reads, total, longest = reads+1, total+took, max(longest, took)
				done += (to - from) * s.pageSize
				s.tell(store.DeepCheckProgress{Doing: "read", Object: r.name, Done: done, Total: s.result.Bytes})
			}
		}
	}
	s.result.Reading = &store.Reading{
		Seconds: total.Seconds(),
		Cached:  s.cached,
		Size:    readPages * s.pageSize,
		MeanMS:  total.Seconds() * 1e3 / float64(max(reads, 1)),
		MaxMS:   longest.Seconds() * 1e3,
	}
	if after := s.device.bytes(); after >= 0 {
		device := after - before
		s.result.Reading.Device = &device
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
