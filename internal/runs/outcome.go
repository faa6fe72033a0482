package runs

import (
	"context"
	"errors"

	"ds2/internal/driver"
	"ds2/internal/result"
)

// Outcome is how a run came to its end.
type Outcome struct {
	Status result.Status // Done, Aborted, Interrupted or Failed
	Err    error         // why it is not done, and what else went wrong; nil for a run that is done
}

// Ended is the outcome of what ended with an error, or with none.
func Ended(err error) Outcome {
	switch {
	case err == nil:
		return Outcome{Status: result.Done}
	case aborts(err):
		return Outcome{result.Aborted, err}
	case errors.Is(err, driver.ErrStopped), errors.Is(err, context.Canceled):
		return Outcome{result.Interrupted, err}
	}
	return Outcome{result.Failed, err}
}

// aborts says that an error ends a run in order.
func aborts(err error) bool { return errors.Is(err, ErrLimits) || errors.Is(err, ErrRoom) }

// withErrors adds what went wrong after the run had ended so. One that was done, or aborted, has
// failed then: its record lacks something.
func (o Outcome) withErrors(errs ...error) Outcome {
	err := errors.Join(errs...)
	if err == nil {
		return o
	}
	if o.Status.CameToEnd() {
		o.Status = result.Failed
	}
	o.Err = errors.Join(o.Err, err)
	return o
}
