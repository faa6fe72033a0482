package measure

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Counts is what happened in some span of time. All are plain sums, so Counts of spans, targets or machines add up. As JSON, a
// workload's own stand among the others under their names.
type Counts struct {
	Orders     int64 `json:"orders"`     // completed order cycles, those that left nothing behind included
	Retries    int64 `json:"retries"`    // operations tried again, for whatever reason
	Reconnects int64 `json:"reconnects"` // connections opened again after one was lost
	GivenUp    int64 `json:"given_up"`   // orders that were begun and not completed

	Offered int64 `json:"offered"` // open loop: orders that were due
	Dropped int64 `json:"dropped"` // open loop: orders that were due and never begun

	// Own are what the workload counts besides, each at the place of its name.
	Own   [MaxOwn]int64 `json:"-"`
	Names *[]string     `json:"-"` // of Own; nobody changes them. nil: there are none, or they are those of what these are added to
}

// MaxOwn is how many counts of its own a workload may have.
const MaxOwn = 10

// Add adds o to c. What o counts of its own and c has no name for is left out: it is of another workload.
func (c *Counts) Add(o Counts) { c.add(o, 1) }

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

// sharedNames are their names.
var sharedNames = func() (names []string) {
	for field := range reflect.TypeFor[shared]().Fields() {
		if name := field.Tag.Get("json"); name != "-" {
			names = append(names, name)
		}
	}
	return names
}()

// MarshalJSON writes all counts.
func (c Counts) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(shared(c))
	if err != nil || c.Names == nil {
		return text, err
	}
	for i, name := range *c.Names {
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		text = fmt.Appendf(text[:len(text)-1], ",%s:%d}", quoted, c.Own[i])
	}
	return text, nil
}

// UnmarshalJSON reads all counts; those of unknown names are the workload's own.
func (c *Counts) UnmarshalJSON(text []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil || all == nil {
		return err
	}
	*c = Counts{}
	if err := json.Unmarshal(text, (*shared)(c)); err != nil {
		return err
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return slices.Contains(sharedNames, name) })
	if len(all) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(all))
	if err := CheckOwn(names); err != nil {
		return err
	}
	c.Names = &names
	for i, name := range names {
		if err := json.Unmarshal(all[name], &c.Own[i]); err != nil {
			return fmt.Errorf("count %q: %w", name, err)
		}
	}
	return nil
}

// CheckOwn refuses more names than Counts have room for.
func CheckOwn(names []string) error {
	if len(names) > MaxOwn {
		return fmt.Errorf("%d counts besides those of every workload, of which ds2 knows %d at most", len(names), MaxOwn)
	}
	return nil
}
