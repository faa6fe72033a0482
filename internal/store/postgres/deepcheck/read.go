package deepcheck

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ds2/internal/store"
	"ds2/internal/store/postgres/target"
)

// readPages are the pages of one read: usually 1 MiB.
const readPages = 128

// maxReaders bounds the connections that read at once.
const maxReaders = 256

// pageReader reads pages on a connection of its own.
type pageReader struct {
	conn     *sql.Conn
	function string // that reads them into the server's cache
}

// openReaders makes as many readers as are asked for, of which the first has the check's own connection. What that made
// of an extension in its transaction the others cannot see, so that they declare its function for themselves, in a
// transaction that is never committed either.
func (s *deepCheck) openReaders(ctx context.Context) error {
	s.readers, s.device = []*pageReader{{s.conn, s.prewarm + ".pg_prewarm"}}, target.NewMeter(ctx, s.conn)
	for len(s.readers) < min(s.how.Readers, maxReaders) {
		conn, err := s.DB().Conn(ctx)
		if err != nil {
			return fmt.Errorf("connect reader %d of %d: %w", len(s.readers)+1, s.how.Readers, err)
		}
		s.readers = append(s.readers, &pageReader{conn, "pg_temp.ds2_prewarm"})
		if err := beginCheck(ctx, conn); err != nil {
			return err
		}
		const declare = `CREATE FUNCTION pg_temp.ds2_prewarm(regclass, text, text, bigint, bigint) RETURNS bigint
			AS '$libdir/pg_prewarm', 'pg_prewarm' LANGUAGE C; SAVEPOINT ds2`
		if _, err := conn.ExecContext(ctx, declare); err != nil {
			return fmt.Errorf("declare pg_prewarm: %w", err)
		}
		s.device = s.device.With(target.NewMeter(ctx, conn))
	}
	return nil
}

// pageRange is pages from, …, to-1 of a fork.
type pageRange struct {
	fork
	from, to int64
}

// readRelation reads every page into the server's cache by pg_prewarm, whereby the server verifies the page's header
// and, where they are on, its checksum. A page that is in the cache already is not read from storage: such pages are
// counted.
func (s *deepCheck) readRelation(ctx context.Context, r relation) error {
	before, begin := s.device.Bytes(), time.Now()
	s.throttle.Resume()
	var ranges []pageRange
	for _, f := range r.forks {
		for from := int64(0); from < f.pages; from += readPages {
			ranges = append(ranges, pageRange{f, from, min(from+readPages, f.pages)})
		}
	}
	idle := make(chan *pageReader, len(s.readers))
	for _, reader := range s.readers {
		idle <- reader
	}
	var mu sync.Mutex // guards what a check keeps of itself
	readers, ctx := errgroup.WithContext(ctx)
	readers.SetLimit(len(s.readers))
	for _, part := range ranges {
		readers.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			reader := <-idle
			defer func() { idle <- reader }()
			if err := s.throttle.Wait(ctx, (part.to-part.from)*s.pageSize); err != nil {
				return err
			}
			start := time.Now()
			cached, bad, err := reader.read(ctx, r, part)
			took := time.Since(start).Seconds() * 1e3
			mu.Lock()
			defer mu.Unlock()
			s.reading.Reads++
			s.reading.Cached += cached * s.pageSize
			s.reading.MeanMS += took // a sum until the end
			s.reading.MaxMS = max(s.reading.MaxMS, took)
			s.damaged[r.oid] = s.damaged[r.oid] || len(bad) > 0
			s.reading.Bad += int64(len(bad))
			s.result.Damage = append(s.result.Damage, bad...)
			s.worked += part.to - part.from
			s.show(r)
			return err
		})
	}
	failed := readers.Wait() // what it cuts off in the others says nothing
	s.reading.Seconds += time.Since(begin).Seconds()
	if after := s.device.Bytes(); after < 0 || before < 0 {
		s.reading.Device = nil
	} else if s.reading.Device != nil {
		*s.reading.Device += after - before
	}
	return failed
}

// read reads a range; where that fails, its pages one by one, so that every damaged page is found. It tells how many
// were in the server's cache.
func (r *pageReader) read(ctx context.Context, of relation, part pageRange) (int64, []store.Damage, error) {
	cached, err := r.prewarm(ctx, of, part)
	if err == nil || target.Lost(err) {
		return cached, nil, err
	}
	if err := undo(ctx, r.conn); err != nil {
		return 0, nil, err
	}
	if part.to-part.from == 1 {
		server, err := aboutData(err)
		if err != nil {
			return 0, nil, err
		}
		place := fmt.Sprintf("%s block %d", part.name, part.from)
		return 0, []store.Damage{{Object: of.name, Place: place, Found: server.Error()}}, nil
	}
	var bad []store.Damage
	for page := part.from; page < part.to; page++ {
		n, found, err := r.read(ctx, of, pageRange{part.fork, page, page + 1})
		cached, bad = cached+n, append(bad, found...)
		if err != nil {
			return cached, bad, err
		}
	}
	return cached, bad, nil
}

func (r *pageReader) prewarm(ctx context.Context, of relation, part pageRange) (cached int64, err error) {
	statement := fmt.Sprintf(`
		EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT json) SELECT %s(%s, 'buffer', '%s', %d, %d)`,
		r.function, of.regclass(), part.name, part.from, part.to-1)
	var text []byte
	if err := r.conn.QueryRowContext(ctx, statement).Scan(&text); err != nil {
		return 0, err
	}
	var plans []struct {
		Plan struct {
			Read int64 `json:"Shared Read Blocks"`
		}
	}
	err = json.Unmarshal(text, &plans)
	if err == nil && len(plans) != 1 {
		err = fmt.Errorf("%d plans of one statement", len(plans))
	}
	if err != nil {
		return 0, fmt.Errorf("read the plan %s: %w", text, err)
	}
	return max(0, part.to-part.from-plans[0].Plan.Read), nil
}
