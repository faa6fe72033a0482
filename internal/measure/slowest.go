package measure

import (
	"cmp"
	"slices"
	"sort"
	"time"
)

// MostSlow is how many of the slowest orders are kept of each interval, and told of each window.
const MostSlow = 100

// WaitForUser is what took the most time of an order that waited longer for a free user than any of
// its operations took.
const WaitForUser = "wait for a user"

// SlowOrder is one of the slowest orders that were completed in an interval. Times are since the
// first orders.
type SlowOrder struct {
	From time.Duration `csv:"from_us"` // when it began, or was due
	To   time.Duration `csv:"to_us"`   // its last row

	// Operation is the one that took the most time, retries included, or WaitForUser.
	Operation     string        `csv:"operation"`
	OperationFrom time.Duration `csv:"operation_from_us"`
	OperationTo   time.Duration `csv:"operation_to_us"`
}

// slowest are the slowest orders of the interval under way, the slowest first.
type slowest []SlowOrder

// note takes an order that ended at a time and took so long, of the operations that are given; the
// names are theirs.
func (s *slowest) note(at, took time.Duration, operations []latency, names []string) {
	place := sort.Search(len(*s), func(i int) bool { return (*s)[i].Took() < took })
	if place == MostSlow {
		return
	}
	o := SlowOrder{From: at - took, To: at}
	// An order's operations follow one another and end with it, so their begins are found from its
	// end backwards. What is left before the first is the wait for a user.
	longest := time.Duration(0)
	end := at
	for _, l := range slices.Backward(operations) {
		if begin := end - l.d; l.d > longest {
			longest = l.d
			o.Operation = names[l.series]
			o.OperationFrom = begin
			o.OperationTo = end
		}
		end -= l.d
	}
	if waited := end - o.From; waited > longest {
		o.Operation, o.OperationFrom, o.OperationTo = WaitForUser, o.From, end
	}
	*s = slices.Insert((*s)[:min(len(*s), MostSlow-1)], place, o)
}

// Took is the response time of the order.
func (o SlowOrder) Took() time.Duration { return o.To - o.From }

// Slowest are the slowest orders that ended in a span, the slowest first. Of an interval that lies
// in it only in part there may be fewer than the run had: MostSlow are known of the whole.
func (s Series) Slowest(span Span) []SlowOrder {
	outside := func(o SlowOrder) bool { return o.To <= span.From || o.To > span.To }
	all := slices.DeleteFunc(slices.Clone(s.Slow), outside)
	slices.SortStableFunc(all, func(a, b SlowOrder) int { return cmp.Compare(b.Took(), a.Took()) })
	return all[:min(len(all), MostSlow)]
}
