package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/driver"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sqlservertest"
	"ds2/internal/store"
	"ds2/internal/storetest"
	"ds2/internal/workload/ds2"
	"ds2/internal/workload/ds2/calls"
)

// TestSQLServerHoldsWhatPostgresHolds compares the contents of both engines after a load, after
// orders of one user from one seed, and after a reset: a hash of each table.
func TestSQLServerHoldsWhatPostgresHolds(t *testing.T) {
	targets := map[string]string{
		"sqlserver": sqlservertest.Database(t),
		"postgres":  pgtest.Database(t),
	}
	size, err := datagen.ParseSize("1MB")
	require.NoError(t, err)
	stores := map[string]store.Database{}
	command := func(line string) {
		t.Helper()
		for _, target := range targets {
			must(t, words("%s --target %s", line, target)...)
		}
	}
	same := func(when string) (hashes map[string]string) {
		t.Helper()
		hashes = contentHashes(t, stores["postgres"].DB())
		for table, hash := range contentHashes(t, stores["sqlserver"].DB()) {
			assert.Equal(t, hashes[table], hash, "%s: the engines differ in %s", when, table)
		}
		return hashes
	}
	command("load --size 1MB")
	for engine, target := range targets {
		stores[engine], err = engines().Open(target)
		require.NoError(t, err)
		t.Cleanup(func() { stores[engine].Close() })
	}
	loaded := same("after the load")
	const orders = 200
	for _, s := range stores {
		// Of what falls short the engines' triggers make different stocks (WORKLOAD.md section 4),
		// so nothing does.
		pgtest.Exec(t, s.DB(), "UPDATE inventory SET quan_in_stock = 10000")
		playOrders(t, s, size, orders)
	}
	driven := same("after the orders")
	assert.Contains(
		t,
		driven["ORDERS"],
		fmt.Sprint(size.OrdersPerMonth*datagen.Months+orders, " rows"),
	)
	assert.NotEqual(t, loaded["CUSTOMERS"], driven["CUSTOMERS"])
	command("reset")
	for table, hash := range same("after the reset") {
		assert.Equal(t, loaded[table], hash, "%s is not what it was after the load", table)
	}
}

// playOrders has one user play n orders from a fixed seed, whatever time they take: the purchase
// that is the last is counted by the session, which stops the run.
func playOrders(t *testing.T, s store.Database, size datagen.Size, orders int) {
	t.Helper()
	stop, end := context.WithCancel(t.Context())
	w := ds2.Config{
		Size:            size,
		Words:           datagen.DefaultWords(),
		PctNewCustomers: 20,
		Searches:        3,
		SearchBatchSize: 5,
		LineItems:       5,
	}
	plan := ds2.Plan{Config: w, Targets: []ds2.Target{counting{s, &orders, end}.Connect}}
	c := driver.Config{
		Spec: result.Spec{
			Targets:    []string{s.Label()},
			Threads:    1,
			Seed:       7,
			RampRate:   100,
			MaxRetries: 10,
		},
		Operations: plan.Workload().Operations(),
		Play:       plan.Begin(""),
		Interval:   10 * time.Second,
		Started:    func(time.Time) {}, Began: func(time.Time) {},
		Lost: func(error) {}, Delayed: func(error) {},
	}
	c.DrainTime.Duration = time.Minute
	c.OperationTimeout.Duration = time.Minute
	d := driver.New(c, discard{}, slog.New(slog.DiscardHandler))
	err := d.Run(t.Context(), stop)
	require.True(t, err == nil || errors.Is(err, driver.ErrStopped), "%v", err)
	counts := d.Meter().Totals()[0].Counts
	require.True(t, counts.GivenUp == 0 && counts.Retries == 0, "%s: %+v", s.Engine(), counts)
}

// counting is a target whose only session calls stop at the last of the purchases that are left.
type counting struct {
	store.Database
	left *int
	stop func()
}

func (c counting) Connect(ctx context.Context) (calls.Session, error) {
	session, err := ds2Engines[c.Engine()](ctx, c.Database)
	return countingSession{session, c}, err
}

type countingSession struct {
	calls.Session
	target counting
}

func (c countingSession) Purchase(ctx context.Context, p *calls.Purchase) (int64, error) {
	id, err := c.Session.Purchase(ctx, p)
	if *c.target.left--; *c.target.left == 0 {
		c.target.stop()
		time.Sleep(time.Second) // the driver hears of it before the next order begins
	}
	return id, err
}

// discard is a driver.Sink that keeps nothing.
type discard struct{}

func (discard) Sample(measure.Sample) error     { return nil }
func (discard) Interval(measure.Interval) error { return nil }

// contentHashes are the SHA-256 of the rows of each table that holds what was loaded and bought,
// sorted, with every value written in one way.
func contentHashes(t *testing.T, db *sql.DB) map[string]string {
	t.Helper()
	hashes := map[string]string{}
	const tables = "CATEGORIES CUSTOMERS ORDERS ORDERLINES CUST_HIST PRODUCTS INVENTORY REORDER"
	for table := range strings.FieldsSeq(tables) {
		lines := storetest.Rows(t, db, "NULL", "SELECT * FROM "+table)
		slices.Sort(lines)
		hashes[table] = fmt.Sprintf(
			"%d rows, %x",
			len(lines),
			sha256.Sum256([]byte(strings.Join(lines, "\n"))),
		)
	}
	return hashes
}
