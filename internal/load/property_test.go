package load_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/storetest"
)

// TestAnyLoad: a load of any size, with any number of sessions, that is broken off anywhere and resumed makes the
// database that a load at once makes. Each case has a seed, which is in its name. DS2_TEST_LOADS asks for another
// number of cases, DS2_TEST_SEED for the first seed.
func TestAnyLoad(t *testing.T) {
	t.Parallel()
	cases, err := strconv.ParseUint(os.Getenv("DS2_TEST_LOADS"), 10, 32)
	if err != nil {
		cases = 4
		if testing.Short() {
			cases = 1
		}
	}
	first, err := strconv.ParseUint(os.Getenv("DS2_TEST_SEED"), 10, 64)
	if err != nil {
		first = 3 // a small load that is broken off twice
	}
	broken := 0
	for seed := first; seed < first+cases; seed++ {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) { broken += anyLoad(t, rand.New(rand.NewPCG(seed, 27))) })
	}
	assert.True(t, broken != 0 || t.Failed(), "no load was broken off")
}

// mostMegabytes is how large the largest load is, and mostSessions how many its sessions are: more than its tables.
const mostMegabytes, mostSessions = 60, 12

// anyLoad says how often a load was broken off.
func anyLoad(t *testing.T, r *rand.Rand) (broken int) {
	megabytes := int(math.Pow(mostMegabytes+1, r.Float64())) // small ones as often as large ones
	size, err := datagen.ParseSize(fmt.Sprintf("%dMB", megabytes))
	require.NoError(t, err)
	o := optionsOf(t, size, 500<<r.IntN(8))
	sessions := func() int { return 1 + r.IntN(mostSessions) }
	said := fmt.Sprintf("%d MB in %d parts", megabytes, len(o.Dataset.Parts("postgres")))

	reference := pgtest.Database(t)
	all := new(storetest.Breaker)
	o.AtOnce, o.Progress = sessions(), all
	mustLoad(t, open(t, reference), o)
	events := int(-all.Left) // rows and statements

	target := pgtest.Database(t)
	s := open(t, target)
	var report *load.Report
	for err = context.Canceled; err != nil; o.Resume = true {
		ctx, cancel := context.WithCancel(t.Context())
		after := 1 + r.IntN(events)
		if r.IntN(2) == 0 { // among the statements after the rows
			after = events - r.IntN(min(events, 30))
		}
		o.AtOnce, o.Progress = sessions(), &storetest.Breaker{Left: int64(after), How: cancel}
		said += fmt.Sprintf(", %d sessions for %d of %d events", o.AtOnce, after, events)
		report, err = load.Run(ctx, s, o)
		cancel()
		switch {
		case err == nil:
		case !errors.Is(err, context.Canceled):
			t.Fatalf("%s: %v", said, err)
		default:
			broken++
			info, unread := store.ReadInfo(t.Context(), s.DB())
			if unread == nil && store.Classify(info.CheckReady()) != store.Config {
				t.Fatalf("%s: a load that was broken off passes for ready", said)
			}
		}
	}
	t.Log(said)
	want := pgtest.Contents(t, reference)
	assert.Equal(t, want, pgtest.Contents(t, target), said)
	for _, table := range report.Tables {
		rows := strings.Fields(want[string(table.Table)])[0]
		assert.Equal(t, rows, fmt.Sprint(table.Rows), "%s: rows of %s", said, table.Table)
		assert.LessOrEqual(t, table.Before, table.Rows, "%s: %s", said, table.Table)
	}
	return broken
}
