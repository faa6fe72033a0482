// Package sampling reads, once a second, what stands beside the orders: the block devices, CPUs,
// memory and network of the machine under test and the database's own counters (the counters of
// WORKLOAD.md section 6); and says what the samples come to over a time.
//
// A Source reads raw figures, which Prometheus shows as they are; its columns are what one second
// of them comes to and go into the record. What the figures mean for a run (verdicts, OPM per watt)
// is for others to say, which drives and processes are read for package topology.
package sampling

import (
	"context"
	"math"
	"slices"
)

// Figure is one raw value that a source reads: a running total where the name ends in _total, a
// state otherwise.
type Figure struct {
	Name string // the Prometheus name without ds2_host_, in base units: "disk_read_bytes_total"
	Help string
	// name of the one label that tells Items apart, such as "device"; empty where there is one
	// figure only
	Label string
	Item  string // the label's value
}

// Column is one figure of the record: what a source's raw values come to over one sample.
type Column struct {
	Name   string // one of the columns of columns.go, with the item where there are several
	at     int    // the place of the first figure that derive is given
	derive derivation
}

// Value is that of the column by the raw values of two reads, seconds apart.
func (c Column) Value(seconds float64, was, now []float64) float64 {
	return c.derive(seconds, was[c.at:], now[c.at:])
}

// Source is one thing that is read every second.
type Source struct {
	Name    string // for logs: "block devices"
	Figures []Figure
	Columns []Column
	// Read fills values, one a figure and in their order; NaN where there is none just now. It is
	// never called twice at once.
	Read func(ctx context.Context, values []float64) error

	writes map[string]*writeCounter // of drives; none where the writes are as they are counted
}

// unknown are n figures that were not read.
func unknown(n int) []float64 { return slices.Repeat([]float64{math.NaN()}, n) }

// derivation turns the raw values of two reads, seconds apart, into the value of a column; NaN
// where it has none.
type derivation func(seconds float64, was, now []float64) float64

// gauge is figure i as it was read.
func gauge(i int) derivation {
	return func(_ float64, _, now []float64) float64 { return now[i] }
}

// rate is the growth of figure i a second.
func rate(i int) derivation { return share(i, 1) }

// share is the growth of figure i a second, of a total.
func share(i int, of float64) derivation {
	return func(seconds float64, was, now []float64) float64 {
		return growthOf(i, was, now) / seconds / of
	}
}

// ratio is the growth of figure i for each unit that figure j grew: a mean latency, a share. NaN
// where j stood still.
func ratio(i, j int) derivation {
	return func(_ float64, was, now []float64) float64 {
		per := growthOf(j, was, now)
		if per == 0 {
			return math.NaN()
		}
		return growthOf(i, was, now) / per
	}
}

// atMostOne is a share, which times that were read a little late would have pass the whole.
func atMostOne(share derivation) derivation {
	return func(seconds float64, was, now []float64) float64 {
		return min(share(seconds, was, now), 1)
	}
}

// growthOf is how far a running total came between two reads; NaN where it was reset in between.
func growthOf(i int, was, now []float64) float64 {
	if d := now[i] - was[i]; d >= 0 {
		return d
	}
	return math.NaN()
}
