package monitor

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Clock is how a clock of another machine compares with this machine's.
type Clock struct {
	Of     string        // whose clock it is, in a sentence
	Ahead  time.Duration // of this machine's; negative: behind
	Within time.Duration // how far Ahead may be wrong, by the time that the answer took; 0: nobody knows the clock

	asked, answered time.Time // by this machine's clock
}

// clockTolerance is how far clocks may differ unnoticed: half a sample.
const clockTolerance = Interval / 2

// set notes what the other clock showed between the question and the answer.
func (c *Clock) set(showed time.Time) {
	half := c.answered.Sub(c.asked) / 2
	c.Ahead, c.Within = showed.Sub(c.asked.Add(half)), max(half, time.Microsecond)
}

// Differs says that the clocks differ by more than can be overlooked, whatever the way of the answer.
func (c Clock) Differs() bool {
	return c.Within > 0 && c.Ahead.Abs() > c.Within+clockTolerance
}

// String says it in a sentence.
func (c Clock) String() string {
	if c.Within == 0 {
		return "the clock of " + c.Of + " is not known"
	}
	way := "ahead of"
	if c.Ahead < 0 {
		way = "behind"
	}
	round := func(d time.Duration) time.Duration { return d.Abs().Round(time.Millisecond) }
	return fmt.Sprintf("the clock of %s is %s %s this machine's (within %s)", c.Of, round(c.Ahead), way, round(c.Within))
}

// databaseClock asks a database server for its clock, by a query that gives seconds since 1970.
func databaseClock(ctx context.Context, db *sql.DB, query string) (c Clock, err error) {
	var seconds float64
	for range 2 { // the first opens a connection, perhaps
		c.asked = time.Now()
		if err := db.QueryRowContext(ctx, query).Scan(&seconds); err != nil {
			return Clock{}, err
		}
		c.answered = time.Now()
	}
	c.set(time.UnixMicro(int64(seconds * 1e6)))
	return c, nil
}
