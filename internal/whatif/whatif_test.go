package whatif

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device"
)

// drive is one that takes so long for a read at any depth, and for a flush, in seconds.
func drive(read, flush float64) Drive {
	d := Drive{Name: fmt.Sprintf("%g/%g ms", 1e3*read, 1e3*flush), Flush: flush}
	for _, depth := range []int{1, 1000} {
		d.Reads = append(d.Reads, device.Point{Depth: depth, IOPS: float64(depth) / read, Mean: read})
	}
	return d
}

// TestByHand compares the law with cases that can be calculated.
func TestByHand(t *testing.T) {
	d := Demand{Processor: .010, Reads: 5, Flushes: 2}
	written := drive(.002, .003)
	written.Write = .005
	capped := []device.Point{{Depth: 1, IOPS: 200, Mean: .005}, {Depth: 8, IOPS: 200, Mean: .040}}
	for _, c := range []struct {
		why               string
		demand            Demand
		drive             Drive
		users, processors int
		orders            float64
	}{
		{"one user waits for nobody: 10 ms + 5 x 2 ms + 2 x 3 ms = 26 ms", d, drive(.002, .003), 1, 2, 1 / .026},
		{"and 4 writes of 5 ms: 46 ms",
			Demand{Processor: .010, Reads: 5, Flushes: 2, Writes: 4}, written, 1, 2, 1 / .046},
		{"a single processor of 10 ms an order, drives of no time: its 100 a second, but for Schweitzer's (N-1)/N",
			d, drive(1e-9, 1e-9), 1000, 1, 100},
		{"two processors do twice as much", d, drive(1e-9, 1e-9), 1000, 2, 200},
		{"reads alone: 8 users, each 5 x 4 ms",
			Demand{Processor: 1e-9, Reads: 5, Flushes: 1e-9}, drive(.004, .001), 8, 2, 8 / .020},
		{"200 reads a second are 40 orders of 5", d, Drive{Reads: capped, Flush: .001}, 8, 2, 40},
		{"a busy log: every order waits 1.5 flushes, each for 2 commits: 1000 users / (2 x 1.5 x 10 ms)",
			Demand{Processor: 1e-9, Reads: 1e-9, Flushes: 2}, drive(.001, .010), 1000, 2, 1000 / .030},
	} {
		b := c.demand.solve(c.drive, c.users, c.processors)
		require.InEpsilon(t, c.orders, b.Rate, .002, c.why)
		require.InEpsilon(t, float64(c.users), b.Rate*(b.Processor+b.Read+b.Commit+b.Write), 1e-6, c.why)
	}
}

// simulated is a closed network as it is: an order is so many reads between bursts of processor of random lengths,
// served in turn, and a commit, which waits for a flush that begins after it. It returns orders a second.
func simulated(random *rand.Rand, processor float64, reads int, read, flush float64, users, processors int) float64 {
	never := math.Inf(1)
	at := slices.Repeat([]float64{never}, users+1) // when what each user does ends, and, last, a flush
	step, free := make([]int, users), processors
	var queue, waiting, served []int
	now, done, from := 0., 0, 0.
	burst := func(user int) { at[user] = now + random.ExpFloat64()*processor/float64(reads+1) }
	enter := func(user int) {
		if free > 0 {
			free--
			burst(user)
		} else {
			queue = append(queue, user)
		}
	}
	begin := func() {
		if at[users] == never && len(waiting) > 0 {
			served, waiting, at[users] = waiting, nil, now+flush
		}
	}
	for u := range users {
		enter(u)
	}
	const orders, warm = 6000, 500
	for done < orders {
		user := slices.Index(at, slices.Min(at))
		now, at[user] = at[user], never
		if user == users {
			for _, u := range served {
				step[u] = 0
				if done++; done == warm {
					from = now
				}
				enter(u)
			}
			begin()
			continue
		}
		if step[user]++; step[user]%2 == 0 { // a read has ended
			enter(user)
			continue
		}
		if free++; len(queue) > 0 {
			free--
			burst(queue[0])
			queue = queue[1:]
		}
		if step[user] < 2*reads {
			at[user] = now + read
			continue
		}
		waiting = append(waiting, user)
		begin()
	}
	return float64(orders-warm) / (now - from)
}

// TestSimulated holds the law against networks that are simulated, and its error against what a model says of it.
func TestSimulated(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var squares, n float64
	for _, users := range []int{2, 8, 32} { // one user waits for nobody
		for _, processors := range []int{1, 2, 8} {
			for _, latency := range [][2]float64{{.001, .001}, {.001, .010}, {.010, .001}, {.010, .010}} {
				const processor, reads = .005, 4
				want := simulated(random, processor, reads, latency[0], latency[1], users, processors)
				demand := Demand{Processor: processor, Reads: reads, Flushes: 1}
				got := demand.solve(drive(latency[0], latency[1]), users, processors).Rate
				require.InEpsilon(t, want, got, .10, "%d users, %d processors, %v", users, processors, latency)
				squares, n = squares+math.Pow(math.Log(got/want), 2), n+1
			}
		}
	}
	require.InDelta(t, leastLaw, math.Sqrt(squares/n), .005)
}

// made are observations of a demand, off by a scatter.
func made(d Demand, random *rand.Rand, scatter float64, drives ...Drive) (all []Observation) {
	return repeated(d, random, scatter, 0, 1, drives...)
}

// repeated are so many on each drive, which are off together by an error of the law.
func repeated(d Demand, random *rand.Rand, scatter, law float64, runs int, drives ...Drive) (all []Observation) {
	for _, drive := range drives {
		off := law * random.NormFloat64()
		for i := range 2 * runs {
			users := []int{8, 32}[i%2]
			rate := d.solve(drive, users, 2).Rate * math.Exp(off+scatter*random.NormFloat64())
			all = append(all, Observation{Drive: drive, Users: users, Rate: rate, Value: 60 * rate})
		}
	}
	return all
}

var orders = Figure{Unit: "OPM", One: "an order"}

var corners = []Drive{drive(.001, .001), drive(.001, .008), drive(.008, .001), drive(.008, .008)}

// slow are the corners, which write fast, and a drive that does not.
func slow() []Drive {
	all := append(slices.Clone(corners), drive(.003, .003))
	for i := range all {
		all[i].Write = []float64{.0001, .006}[i/4]
	}
	return all
}

// What an order takes, and one of a database that writes its data, too.
var (
	truth   = Demand{Processor: .004, Reads: 6, Flushes: 1.4}
	writing = Demand{Processor: .004, Reads: 6, Flushes: 1.4, Writes: 3}
)

// fitted is the model of observations.
func fitted(t *testing.T, all []Observation, f Figure) Model {
	t.Helper()
	m, err := Fit(all, 2, f)
	require.NoError(t, err)
	return m
}

// predicted is what a model says of a drive.
func predicted(t *testing.T, m Model, d Drive, users int) Prediction {
	t.Helper()
	p, err := m.Predict(d, users)
	require.NoError(t, err)
	return p
}

// TestDemand: the fit finds the demand that runs were made of.
func TestDemand(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	exact := fitted(t, made(truth, random, 0, corners...), orders)
	require.InEpsilon(t, truth.Processor, exact.Demand.Processor, .001)
	require.InEpsilon(t, truth.Reads, exact.Demand.Reads, .001)
	require.InEpsilon(t, truth.Flushes, exact.Demand.Flushes, .001)

	idle := fitted(t, made(Demand{Processor: 1e-7, Reads: 6, Flushes: 1.4}, random, .03, corners...), orders)
	require.InEpsilon(t, 6, idle.Demand.Reads, .15, "of processors that take no time")
	require.Len(t, idle.Coefficients, 2, "what an order takes of the processors is not known")
	path := filepath.Join(t.TempDir(), "model.json")
	require.NoError(t, idle.Save(path))
	_, err := Read(path)
	require.NoError(t, err)

	exact = fitted(t, made(writing, random, 0, slow()...), orders)
	require.InEpsilon(t, writing.Writes, exact.Demand.Writes, .001)
	require.InEpsilon(t, writing.Reads, exact.Demand.Reads, .001)
	require.Equal(t, Range{.0001, .006}, exact.Write)
	require.InDelta(t, leastLaw, exact.Law, 1e-9, "without the drive that is slow to write the others do not tell")
	require.Less(t, fitted(t, made(writing, random, .05, slow()...), orders).Law, .2)

	ios := repeated(truth, random, .02, 0, 6, corners...)
	for i := range ios {
		ios[i].Value = 1.9 * ios[i].Rate * math.Exp(.2*random.NormFloat64())
	}
	transactions := fitted(t, ios, Figure{Unit: "IOPS", One: "a transaction"})
	require.InEpsilon(t, truth.Reads, transactions.Demand.Reads, .1,
		"what a transaction takes does not depend on how many I/Os it comes to")
	require.InEpsilon(t, 1.9, transactions.Each, .1)
	require.InDelta(t, .2, transactions.EachScatter, .06)
	p := predicted(t, transactions, drive(.003, .003), 8)
	require.Greater(t, p.High/p.Value, math.Exp(1.6*transactions.EachScatter))
}

// TestFit: the intervals of a fit hold the demand, and those of predictions new runs, also where the law is off on each
// drive.
func TestFit(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	fits := 30
	if testing.Short() {
		fits = 10
	}
	for _, c := range []struct {
		why          string
		scatter, law float64
		runs         int
		drives       []Drive
	}{
		{"the law is as good as it can be", .05, leastLaw, 1, corners},
		{"the law is off more than runs scatter, and more runs do not help", .02, .08, 3,
			append(slices.Clone(corners), drive(.003, .003))},
	} {
		held, checks, coefficients := 0, 0, 0
		for range fits {
			runs := repeated(truth, random, c.scatter, c.law, c.runs, c.drives...)
			m := fitted(t, runs, orders)
			if c := m.Coefficients[1]; c.Low <= truth.Reads && truth.Reads <= c.High {
				coefficients++
			}
			others := []Drive{drive(.002, .002), drive(.004, .0015), drive(.0015, .006)}
			m.Check(runs, repeated(truth, random, c.scatter, c.law, 1, others...))
			v := m.Verdict()
			held, checks = held+v.Inside, checks+v.Checks
		}
		// In the long run .93 and .87 are held; so few fits tell that from .77, of a law whose misses do not count.
		assert.GreaterOrEqual(t, float64(held)/float64(checks), .82, c.why)
		if c.law <= c.scatter {
			assert.GreaterOrEqual(t, float64(coefficients)/float64(fits), .90, c.why)
		}
	}
}

// TestRefusals: what the runs do not tell is not said.
func TestRefusals(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	m := fitted(t, made(truth, random, .02, corners...), orders)
	writes := fitted(t, made(writing, random, .02, slow()...), orders)
	shallow := Drive{Name: "shallow", Flush: .002, Reads: []device.Point{{Depth: 1, IOPS: 250, Mean: .004}}}
	at := drive(.003, .003)
	at.Write = .010
	for _, c := range []struct {
		model Model
		drive Drive
		users int
		why   string
	}{
		{m, drive(.011, .002), 8, "fitted for reads of 1 to 8 ms; this drive's would take 11 ms"},
		{m, drive(.0005, .002), 8, "fitted for reads of 1 to 8 ms; this drive's would take 0.5 ms"},
		{m, drive(.002, .020), 8, "fitted for log flushes of 1 to 8 ms; this drive's take 20 ms"},
		{m, drive(.002, .002), 64, "fitted from 8 to 32 users"},
		{m, shallow, 8, "measure it deeper"},
		{writes, at, 8, "fitted for writes of data of 0.1 to 6 ms; this drive's take 10 ms"},
	} {
		_, err := c.model.Predict(c.drive, c.users)
		require.ErrorContains(t, err, c.why)
	}
	_, err := Fit(made(truth, random, .02, corners[:2]...), 2, orders)
	require.ErrorIs(t, err, ErrUnknown, "two drives with the same reads")
	_, err = Fit(made(truth, random, .02, corners[0]), 2, orders)
	require.ErrorIs(t, err, ErrUnknown, "too few runs")

	p := predicted(t, m, drive(.004, .002), 16)
	require.Equal(t, "reads", p.HeldBack())
	require.InDelta(t, 100, p.Processor+p.Read+p.Commit, 1e-6)
	require.Greater(t, *p.HalfRead, *p.HalfFlush)
	require.Nil(t, predicted(t, m, drive(.004, .0015), 16).HalfFlush, "half of it is outside the range")

	p = predicted(t, writes, drive(.003, .003), 8)
	require.True(t, p.NoWrites)
	at.Write = .005
	slower := predicted(t, writes, at, 8)
	require.False(t, slower.NoWrites)
	require.Less(t, slower.Value, p.Value)
	require.InDelta(t, 100, slower.Processor+slower.Read+slower.Commit+slower.Writes, 1e-6)
	require.Greater(t, *slower.HalfWrite, 0.)
}
