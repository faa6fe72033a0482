package directory

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ds2/datagen"
	"ds2/internal/atomicfile"
)

// noteEvery is how much of finished work a run that is killed may have to do again: the manifest is
// not written for every small file.
const noteEvery = time.Second

const (
	// blockSize is how many bytes pass from a maker to a writer at once, and to the file in one
	// write: what the second-level cache still holds when the writer reads it.
	blockSize = 256 << 10
	// ahead is how many blocks of a part wait for its writer. A customers' part fits, so that it
	// can be made before its turn.
	ahead = 8
	// waiting is how many parts for each maker are made or begun before they are written, so that
	// the memory is bounded where the disk is slower than the makers. The first of them can always
	// be written: parts begin in the order of their files.
	waiting = 4
)

// work makes the missing files of a plan. Makers turn parts into blocks of rows, as many at a time
// as Options.Parallel says; each file has a writer, which takes the blocks of its parts in order.
type work struct {
	plan     *Plan
	progress func(int64)
	need     atomic.Int64  // expected bytes of CSV that are still to be written
	blocks   sync.Pool     // of *[]byte, to be filled
	begun    chan struct{} // one for each part that has begun to be made and is not written

	mu    sync.Mutex // guards what follows, and the manifest
	noted time.Time  // when the manifest was written last
}

type job struct {
	part   datagen.Part
	blocks chan *[]byte // of the part in order, then closed
	turn   int          // the part's place in its file, from 0; -1: it is all of it
	bytes  int64        // of the file
}

type fileWork struct {
	entry *Entry
	jobs  []job // the file's parts, in order
}

// newFileWork makes the jobs of a file. One that is a single part comes first in the order of all,
// as nothing of it can be shared out.
func newFileWork(file datagen.File, entry *Entry) *fileWork {
	f := &fileWork{entry: entry}
	for turn, p := range file.Parts {
		if len(file.Parts) == 1 {
			turn = -1
		}
		f.jobs = append(f.jobs, job{p, make(chan *[]byte, ahead), turn, file.Bytes()})
	}
	return f
}

// scheduleParts says in which order parts are made: first files of one part, the largest first,
// which cannot be shared; then the first parts of the others, their second ones, and so on, which
// fill up the time until the last maker is done.
func scheduleParts(files []*fileWork) (jobs []job) {
	for _, f := range files {
		jobs = append(jobs, f.jobs...)
	}
	slices.SortStableFunc(jobs, func(a, b job) int {
		return cmp.Or(cmp.Compare(a.turn, b.turn), cmp.Compare(b.bytes, a.bytes))
	})
	return jobs
}

// runJobs makes all parts and writes all files. Makers and writers meet in the parts' channels
// alone, so that the CPUs make rows while the drive is written to.
func (w *work) runJobs(ctx context.Context, files []*fileWork, parallel int) error {
	w.blocks.New = func() any { b := make([]byte, 0, blockSize); return &b }
	w.begun = make(chan struct{}, waiting*parallel)
	group, ctx := errgroup.WithContext(ctx)
	for _, f := range files {
		group.Go(func() error { return w.writeFile(ctx, f) })
	}
	var makers errgroup.Group
	makers.SetLimit(parallel)
	for _, j := range scheduleParts(files) {
		select {
		case w.begun <- struct{}{}:
		case <-ctx.Done():
		}
		makers.Go(func() error {
			defer close(j.blocks)
			if err := ctx.Err(); err != nil {
				return err
			}
			_, err := j.part.WriteTo(&blockWriter{ctx: ctx, pool: &w.blocks, to: j.blocks})
			return err
		})
	}
	_ = makers.Wait() // one fails only where ctx has ended, and its writer then says so
	return group.Wait()
}

// blockWriter fills blocks and hands them on. It lends them to the rows.
type blockWriter struct {
	ctx   context.Context
	pool  *sync.Pool
	to    chan<- *[]byte
	block *[]byte // being filled, or nil
}

var _ datagen.Lender = (*blockWriter)(nil)

// Lend gives an empty block.
func (b *blockWriter) Lend() []byte {
	if b.block == nil {
		b.block = b.pool.Get().(*[]byte)
	}
	return *b.block
}

// Write hands on rows that lie in the block that Lend gave.
func (b *blockWriter) Write(p []byte) (int, error) {
	*b.block = append(b.Lend(), p...)
	select {
	case b.to <- b.block:
		b.block = nil
		return len(p), nil
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	}
}

// writeFile writes a file when its first block comes, brings it to the disk while the makers go on
// with others, and notes it.
func (w *work) writeFile(ctx context.Context, f *fileWork) error {
	var s *sink
	for _, j := range f.jobs {
		for block := range j.blocks { // at least one, which may be empty
			if s == nil {
				path := filepath.Join(w.plan.dir, f.entry.Name)
				file, err := atomicfile.Create(path)
				if err != nil {
					return fmt.Errorf("make file: %w", err)
				}
				defer file.Abort() // removes nothing that Commit has given its name
				s = &sink{work: w, file: file, path: path}
			}
			if err := s.writeBlock(*block); err != nil {
				return err
			}
			*block = (*block)[:0]
			w.blocks.Put(block)
		}
		if ctx.Err() != nil { // the part may have been cut off
			return ctx.Err()
		}
		<-w.begun
	}
	if err := s.explainFull(s.file.Commit()); err != nil {
		return err
	}
	return w.noteFinished(f.entry, s)
}

// noteFinished notes a file that is whole in the manifest.
func (w *work) noteFinished(e *Entry, s *sink) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	e.Rows = s.written.rows
	e.Bytes = s.written.bytes
	e.Sum = s.written.checksum()
	if time.Since(w.noted) < noteEvery {
		return nil
	}
	w.noted = time.Now()
	return w.plan.manifest.writeTo(w.plan.dir)
}
