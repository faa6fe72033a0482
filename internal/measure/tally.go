package measure

import "time"

// Tally is how many orders, and how often and how long each operation ran.
type Tally struct {
	Counts
	OwnTime time.Duration   // of the orders, in the workload's own meaning
	Number  []int64         // of each operation
	Sum     []time.Duration // of each operation
}

// Add adds o.
func (t *Tally) Add(o Tally) { t.add(o, 1) }

func (t *Tally) add(o Tally, times int64) {
	t.Counts.add(o.Counts, times)
	t.OwnTime += time.Duration(times) * o.OwnTime
	if t.Number == nil {
		t.Number, t.Sum = make([]int64, len(o.Number)), make([]time.Duration, len(o.Sum))
	}
	for i := range o.Number {
		t.Number[i] += times * o.Number[i]
		t.Sum[i] += time.Duration(times) * o.Sum[i]
	}
}

func (t Totals) tally() Tally {
	tally := Tally{Counts: t.Counts, OwnTime: t.OwnTime}
	for _, d := range t.Durations {
		tally.Number = append(tally.Number, d.Count())
		tally.Sum = append(tally.Sum, d.Sum)
	}
	return tally
}

// SinceReset is each target's tally since the end of the warm-up, where its figures are set back, and before that since
// the start; as of the last sample.
func (m *Meter) SinceReset() []Tally {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]Tally, len(m.targets))
	for i := range m.targets {
		out[i] = m.targets[i].totals.tally()
		out[i].add(m.targets[i].reset, -1)
	}
	return out
}
