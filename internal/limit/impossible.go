package limit

import "fmt"

// Impossible is an error where no run can keep one of the limits: a latency or a share is never below 0.
func Impossible(limits []Limit) error {
	for _, l := range limits {
		if l.Compare == Below && l.Bound <= 0 || l.Compare == AtMost && l.Bound < 0 {
			return fmt.Errorf("no run can keep %q: it is never below 0", l)
		}
	}
	return nil
}
