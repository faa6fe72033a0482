// Package audit asks a database whether it holds what the driver says it did: rows, keys, sums and stock, in SQL that
// every engine understands. It changes nothing and repairs nothing. Nobody may be at work on the database meanwhile.
package audit

import (
	"context"
	"database/sql"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"ds2/datagen"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/store"
)

// Options say what the database should hold.
type Options struct {
	// Size of the dataset that was loaded; nil: what ds2_info says. A database that DS2's own scripts loaded needs it.
	Size *datagen.Size

	// Run is what a run says that it did here; nil: unknown, so only what holds without it is asked.
	Run *Run

	// Progress is told each check as soon as it is done, from one goroutine at a time; may be nil.
	Progress func(result.Check)
}

// Run is one run's account of what it did to one target.
type Run struct {
	Counts        measure.Counts // from the first orders to the end of the drain
	Before, After result.Marks
}

// atOnce is how many checks run side by side: each reads whole tables, so a few keep the disks busy.
const atOnce = 4

// ReadMarks reads the highest keys: before a run and after it, for Run.
func ReadMarks(ctx context.Context, db *sql.DB) (result.Marks, error) {
	var m result.Marks
	const query = "SELECT COALESCE((SELECT MAX(customerid) FROM customers), 0), COALESCE((SELECT MAX(orderid) FROM orders), 0)"
	if err := db.QueryRowContext(ctx, query).Scan(&m.Customer, &m.Order); err != nil {
		return m, fmt.Errorf("read the highest customer and order: %w", err)
	}
	return m, nil
}

// Check audits one target. What it finds is in the checks; the error is only about the asking.
func Check(ctx context.Context, target store.Store, o Options) ([]result.Check, error) {
	size, err := sizeOf(ctx, target, o.Size)
	if err != nil {
		return nil, target.Wrap("audit "+target.Label(), err)
	}
	questions := questionsFor(size, o.Run)
	checks := make([]result.Check, len(questions))
	var progress sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i, q := range questions {
		group.Go(func() error {
			found, err := q.ask(ctx, target.DB())
			if err != nil {
				return target.Wrap(fmt.Sprintf("audit %s: count %s", target.Label(), q.name), err)
			}
			checks[i] = result.Check{
				Target: target.Label(), Name: q.name,
				Passed: q.want.holds(found), Expected: q.want.String(), Found: q.want.format(found),
			}
			if o.Progress != nil {
				progress.Lock()
				defer progress.Unlock()
				o.Progress(checks[i])
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return checks, nil
}

// Passed tells whether all checks did.
func Passed(checks []result.Check) bool {
	for _, c := range checks {
		if !c.Passed {
			return false
		}
	}
	return true
}

// sizeOf is the size that the database should have: what it says itself or, where the kit did not load it, what was given.
func sizeOf(ctx context.Context, target store.Store, given *datagen.Size) (datagen.Size, error) {
	info, err := store.ReadInfo(ctx, target.DB())
	if err != nil {
		if given != nil && store.Classify(target.Wrap("read ds2_info", err)) == store.Config {
			return *given, nil
		}
		return datagen.Size{}, err
	}
	if err := info.CheckReady(); err != nil {
		return datagen.Size{}, err
	}
	size, err := info.Size()
	if err == nil && given != nil && *given != size {
		err = fmt.Errorf("it holds a dataset of size %s, not %s", size, *given)
	}
	return size, err
}
