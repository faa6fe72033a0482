package folder

import (
	"bytes"
	"context"
	"encoding/hex"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"ds2/datagen"
)

// noteEvery is how much of finished work a run that is killed may have to do again: the manifest is not written for
// every small file.
const noteEvery = time.Second

// work shares the parts of files out to workers. A file is written by one worker at a time, part after part; where there
// are more workers than files, a worker makes a part of a file that others are at in memory, and waits for its turn.
type work struct {
	ctx      context.Context
	plan     *Plan
	progress func(int64)
	need     atomic.Int64 // expected bytes of CSV that are still to be written

	finishers sync.WaitGroup

	mu    sync.Mutex // guards what follows, all of fileWork but its sink, and the manifest
	cond  sync.Cond  // a turn has passed, or err is set
	files []*fileWork
	noted time.Time // when the manifest was written last
	err   error     // the first, which ends everything
}

// fileWork is how far one file is.
type fileWork struct {
	file  datagen.File
	entry *Entry
	next  int   // part to be handed out next
	turn  int   // part to be written next; whose turn it is has the sink to itself
	at    int   // workers at it
	left  int64 // expected bytes of the parts that are still to be written
	sink  *sink
}

// run makes all files.
func (w *work) run(parallel int) error {
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(w.worker)
	}
	stop := context.AfterFunc(w.ctx, func() { w.fail(w.ctx.Err()) }) // wakes those who wait for their turn
	workers.Wait()
	w.finishers.Wait()
	stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.files {
		if f.sink != nil {
			f.sink.abandon()
		}
	}
	return w.err
}

func (w *work) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
	w.cond.Broadcast()
}

// worker makes parts until there are none left.
func (w *work) worker() {
	var ahead bytes.Buffer // a part made before its turn
	for {
		f, part := w.take()
		if f == nil {
			return
		}
		if err := w.make(f, part, &ahead); err != nil {
			w.fail(err)
			return
		}
	}
}

// take hands out the next part: of the file that the fewest workers are at, and of those, the one with the most left.
func (w *work) take() (best *fileWork, part int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return nil, 0
	}
	for _, f := range w.files {
		if f.next == len(f.file.Parts) {
			continue
		}
		if best == nil || f.at < best.at || f.at == best.at && f.left > best.left {
			best = f
		}
	}
	if best != nil {
		part = best.next
		best.next++
		best.at++
	}
	return best, part
}

// make makes a part; with the last of a file, the file is finished.
func (w *work) make(f *fileWork, part int, ahead *bytes.Buffer) error {
	if w.isTurn(f, part) {
		if err := w.open(f); err != nil {
			return err
		}
		if _, err := f.file.Parts[part].WriteTo(f.sink); err != nil {
			return err
		}
	} else {
		ahead.Reset()
		if _, err := f.file.Parts[part].WriteTo(ahead); err != nil {
			return err
		}
		if err := w.waitTurn(f, part); err != nil {
			return err
		}
		if _, err := f.sink.Write(ahead.Bytes()); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	f.turn++
	f.at--
	f.left -= f.file.Parts[part].Bytes
	w.cond.Broadcast()
	if f.turn == len(f.file.Parts) {
		w.finishers.Go(func() { w.finish(f) })
	}
	return nil
}

// finish brings a file to the disk, which takes its time, while the workers go on with others, and notes it.
func (w *work) finish(f *fileWork) {
	if err := f.sink.finish(); err != nil {
		w.fail(err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	f.entry.Rows, f.entry.Bytes, f.entry.SHA256 = f.sink.rows, f.sink.bytes, hex.EncodeToString(f.sink.hash.Sum(nil))
	f.sink = nil
	if time.Since(w.noted) < noteEvery {
		return
	}
	w.noted = time.Now()
	if err := w.plan.manifest.write(w.plan.dir); err != nil && w.err == nil {
		w.err = err
	}
}

func (w *work) isTurn(f *fileWork, part int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return f.turn == part
}

func (w *work) waitTurn(f *fileWork, part int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for f.turn != part && w.err == nil {
		w.cond.Wait()
	}
	return w.err
}

// open makes the file's sink where it has none yet.
func (w *work) open(f *fileWork) (err error) {
	if f.sink == nil {
		f.sink, err = w.newSink(filepath.Join(w.plan.dir, f.entry.Name))
	}
	return err
}
