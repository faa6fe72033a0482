// Package tune searches for the largest number of users with which a store keeps its limits. It
// decides what to run next and when to stop; how a run is made and judged is the caller's.
package tune

import (
	"fmt"
	"math/bits"
	"slices"

	"ds2/internal/result"
)

// resolution is the part of a number of users up to which the largest is searched for: differences
// of the next number are lost in those of its runs.
const resolution = 16

// Next is the trial to make after trials, without users where the search is over, and what it has
// found then. It doubles the users until a trial fails, halves the interval between the largest
// number that passed and the smallest that failed, and confirms the former. A number with a failed
// trial is out, and so is every larger one.
func Next(
	c result.SearchConfig,
	trials []result.Trial,
) (next result.Trial, found result.SearchResult) {
	low, high := bracket(trials)
	switch {
	case len(trials) == 0:
		next.Threads = c.Start
		next.Why = "the first number of users"
	case high == 0 && low < c.Max:
		next.Threads = min(2*low, c.Max)
		next.Why = "twice as many: the limits hold"
	case high == 1:
		found.Why = explainFailure(trials, 1, " already")
	case high-low > max(1, low/resolution) && high > 0:
		next.Threads = (low + high) / 2
		next.Why = fmt.Sprintf("halfway from %d to %d users", low, high)
	case len(result.Confirming(trials, low)) < c.Confirm:
		next.Threads = low
		next.Why = "confirms the largest number that held"
		next.Confirm = true
	case high == 0:
		found.Users = low
		found.Why = fmt.Sprintf("no more users than %d were allowed", c.Max)
	default:
		found.Users = low
		found.Why = explainFailure(trials, high, "")
	}
	return next, found
}

// explainFailure says what ruled a number of users out.
func explainFailure(trials []result.Trial, users int, already string) string {
	noun := "users"
	if users == 1 {
		noun = "user"
	}
	if CannotTell(trials, users) {
		return fmt.Sprintf("whether the limits hold with %d %s cannot be told", users, noun)
	}
	return fmt.Sprintf("the limits fail%s with %d %s", already, users, noun)
}

// CannotTell says that all trials of a number of users hold the limits, and their interval does
// not.
func CannotTell(trials []result.Trial, users int) bool {
	return slices.ContainsFunc(trials, func(t result.Trial) bool {
		return t.Threads == users && t.CannotTell
	})
}

// bracket is what trials have shown so far, on the assumption that more users never lower a
// latency: the smallest number of users of which a trial failed, and the largest below it that
// passed; 0: none.
func bracket(trials []result.Trial) (low, high int) {
	for _, t := range trials {
		if !t.Passed && (high == 0 || t.Threads < high) {
			high = t.Threads
		}
	}
	for _, t := range trials {
		if high == 0 || t.Threads < high {
			low = max(low, t.Threads)
		}
	}
	return low, high
}

// Higher is a trial with fewer users than the result that passed with a value by more than a tenth
// above it: more users do not lower the rate of a store, so one of the two is of another state of
// it. False: there is none.
func Higher(trials []result.Trial, users int, value float64) (higher result.Trial, found bool) {
	for _, t := range trials {
		if t.Passed && t.Threads < users && t.Value > max(1.1*value, higher.Value) {
			higher = t
			found = true
		}
	}
	return higher, found
}

// ByUsers are the trials in the order of their users, and of time.
func ByUsers(trials []result.Trial) []result.Trial {
	return slices.SortedStableFunc(slices.Values(trials), func(a, b result.Trial) int {
		return a.Threads - b.Threads
	})
}

// Left is how many more trials it takes if none that confirms fails; false while no limit has
// failed.
func Left(c result.SearchConfig, trials []result.Trial) (n int, known bool) {
	low, high := bracket(trials)
	if high == 0 && low < c.Max {
		return 0, false
	}
	// Each trial halves the interval between low and high, until it is as narrow as the resolution.
	if steps := max(1, low/resolution); high > 0 {
		n = bits.Len(uint(max(0, high-low-1) / steps))
	}
	return n + max(0, c.Confirm-len(result.Confirming(trials, low))), true
}
