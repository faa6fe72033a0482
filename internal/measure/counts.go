package measure

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"
)

// Counts is what happened in some span of time. All are plain sums, so Counts of spans, targets or
// machines add up. As JSON, a workload's own stand among the others under their names.
type Counts struct {
	// completed order cycles, those that left nothing behind included
	Orders int64 `json:"orders" csv:"orders"`
	// operations tried again, for whatever reason
	Retries int64 `json:"retries" csv:"retries"`
	// connections opened again after one was lost
	Reconnects int64 `json:"reconnects" csv:"reconnects"`
	// orders that were begun and not completed
	GivenUp int64 `json:"given_up" csv:"given_up"`

	// Of an open loop: orders that were due, and those of them that were never begun.
	Offered int64 `json:"offered" csv:"offered"`
	Dropped int64 `json:"dropped" csv:"dropped"`

	// Own are what the workload counts besides, each at the place of its name.
	Own [MaxOwn]int64 `json:"-"`
	// of Own, for reading; nil: there are none, or as in what these are added to
	Names *[]string `json:"-"`
}

// MaxOwn is how many own counts a workload may have.
const MaxOwn = 10

// Add adds o to c. Own counts of o that c has no name for are left out: they are of another
// workload.
func (c *Counts) Add(o Counts) { c.add(o, 1) }

// add adds o so many times; −1 takes it off, as what was counted before a reset.
func (c *Counts) add(o Counts, times int64) {
	c.Orders += times * o.Orders
	c.Retries += times * o.Retries
	c.Reconnects += times * o.Reconnects
	c.GivenUp += times * o.GivenUp
	c.Offered += times * o.Offered
	c.Dropped += times * o.Dropped
	if c.Names == nil {
		c.Names = o.Names
	}
	if o.Names == nil || o.Names == c.Names {
		for i, n := range o.Own {
			c.Own[i] += times * n
		}
		return
	}
	for i, name := range *o.Names {
		if at := slices.Index(*c.Names, name); at >= 0 {
			c.Own[at] += times * o.Own[i]
		}
	}
}

// Of is the count of a name of the workload's own; 0 where there is none.
func (c Counts) Of(name string) int64 {
	if c.Names == nil {
		return 0
	}
	if i := slices.Index(*c.Names, name); i >= 0 {
		return c.Own[i]
	}
	return 0
}

// shared are the counts that every workload has.
type shared Counts

// MarshalJSON writes all counts.
func (c Counts) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(shared(c))
	if err != nil || c.Names == nil {
		return text, err
	}
	for i, name := range *c.Names {
		quoted, _ := json.Marshal(name) // any text can be written
		text = fmt.Appendf(text[:len(text)-1], ",%s:%d}", quoted, c.Own[i])
	}
	return text, nil
}

// UnmarshalJSON reads all counts; those of unknown names are the workload's own.
func (c *Counts) UnmarshalJSON(text []byte) error {
	var all map[string]int64
	if err := json.Unmarshal(text, &all); err != nil || all == nil {
		return err
	}
	*c = Counts{}
	if err := json.Unmarshal(text, (*shared)(c)); err != nil {
		return err
	}
	for field := range reflect.TypeFor[shared]().Fields() {
		delete(all, field.Tag.Get("json"))
	}
	if len(all) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(all))
	if err := CheckOwn(names); err != nil {
		return err
	}
	c.Names = &names
	for i, name := range names {
		c.Own[i] = all[name]
	}
	return nil
}

// CheckOwn refuses more names than Counts have room for.
func CheckOwn(names []string) error {
	if len(names) > MaxOwn {
		return fmt.Errorf(
			"%d counts besides those of every workload, of which ds2 knows %d at most", len(names),
			MaxOwn)
	}
	return nil
}

// Failure names what went wrong and in which operation.
type Failure struct {
	Operation string
	Class     string
}

// FailureCount is how often a failure happened.
type FailureCount struct {
	Operation string `json:"operation"`
	Class     string `json:"class"`
	Count     int64  `json:"count"`
	Example   string `json:"example,omitempty"` // the first error of these
}

// Count is how often the failure happened, with an example.
func (f Failure) Count(n int64, example string) FailureCount {
	return FailureCount{f.Operation, f.Class, n, example}
}

// AddFailures adds counts to a list of them, which stays sorted by operation and class.
func AddFailures(list []FailureCount, more ...FailureCount) []FailureCount {
	for _, f := range more {
		at, there := slices.BinarySearchFunc(list, f, func(a, b FailureCount) int {
			return cmp.Or(cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Class, b.Class))
		})
		if there {
			list[at].Count += f.Count
			list[at].Example = cmp.Or(list[at].Example, f.Example)
		} else {
			list = slices.Insert(list, at, f)
		}
	}
	return list
}

// Tally is how many orders, and how often and how long each operation ran.
type Tally struct {
	Counts
	OwnTime time.Duration   // of the orders, in the workload's own meaning
	Number  []int64         // of each operation
	Sum     []time.Duration // of each operation
}

// MeanOf is the mean of n durations; 0 of none.
func MeanOf(sum time.Duration, n int64) time.Duration { return sum / time.Duration(max(n, 1)) }

// Add adds the counts and times of another tally.
func (t *Tally) Add(o Tally) { t.add(o, 1) }

// add adds o so many times, as Counts.add does.
func (t *Tally) add(o Tally, times int64) {
	t.Counts.add(o.Counts, times)
	t.OwnTime += time.Duration(times) * o.OwnTime
	if t.Number == nil {
		t.Number = make([]int64, len(o.Number))
		t.Sum = make([]time.Duration, len(o.Sum))
	}
	for i := range o.Number {
		t.Number[i] += times * o.Number[i]
		t.Sum[i] += time.Duration(times) * o.Sum[i]
	}
}

// tally is the totals without their histograms, small enough to be kept as they stood at a time.
func (t Totals) tally() Tally {
	tally := Tally{Counts: t.Counts, OwnTime: t.OwnTime}
	for _, d := range t.Durations {
		tally.Number = append(tally.Number, d.Count())
		tally.Sum = append(tally.Sum, d.Sum)
	}
	return tally
}

// SinceReset is the time since the figures were set back, at the end of the warm-up, and before
// that since the first orders; each target's tally in it; and whether they were set back. All are
// as of the last sample.
func (m *Meter) SinceReset() (since time.Duration, tallies []Tally, reset bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	tallies = make([]Tally, len(m.targets))
	for i := range m.targets {
		tallies[i] = m.targets[i].totals.tally()
		tallies[i].add(m.targets[i].reset, -1)
	}
	return m.progress.last.End - m.progress.from, tallies, m.progress.ran
}

// share is a part of a whole; NaN of none.
func share(part, whole int64) float64 {
	if whole <= 0 {
		return math.NaN()
	}
	return float64(part) / float64(whole)
}

// ErrorShare is how many attempts failed of the orders that were begun; NaN where none was.
func (w Window) ErrorShare() float64 { return share(w.Errors, w.Counts.Orders+w.Counts.GivenUp) }

// DroppedShare is the part of the orders that fell due and were dropped; NaN where none fell due.
func (w Window) DroppedShare() float64 { return share(w.Counts.Dropped, w.Counts.Offered) }
