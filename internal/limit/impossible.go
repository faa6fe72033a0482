package limit

import "fmt"

// Impossible is an error where no run can keep all limits: a figure would have to be negative, or two things at once.
func Impossible(limits []Limit) error {
	for _, l := range limits {
		if l.Compare == Below && l.Bound <= 0 || l.Compare == AtMost && l.Bound < 0 {
			return fmt.Errorf("no run can keep %q: it is never below 0", l)
		}
		if l.Unit() == Ratio && (l.Compare == Above && l.Bound >= 1 || l.Compare == AtLeast && l.Bound > 1) {
			return fmt.Errorf("no run can keep %q: it is never above 100 %%", l)
		}
		for _, other := range limits {
			if l.Metric != other.Metric || l.upper() || !other.upper() {
				continue
			}
			if l.Bound > other.Bound || l.Bound == other.Bound && (l.Compare == Above || other.Compare == Below) {
				return fmt.Errorf("no run can keep both %q and %q", l, other)
			}
		}
	}
	return nil
}

func (l Limit) upper() bool { return l.Compare == Below || l.Compare == AtMost }
