package tune

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/result"
)

// TestSearch searches stores whose limits hold up to a number of users, where the run of a number
// may fail by itself.
func TestSearch(t *testing.T) {
	for _, c := range []struct {
		why        string
		start, max int
		most       int   // users within the limits
		bad        []int // trials, counted from 1, that fail whatever their users; below 0: cannot tell
		users      []int // of the trials
		found      int
		reason     string
	}{
		{
			"a limit above the start", 16, 512, 25, nil,
			[]int{16, 32, 24, 28, 26, 25, 25, 25, 25},
			25,
			"the limits fail with 26 users",
		},
		{
			"many users, to a sixteenth", 16, 1024, 150, nil,
			[]int{16, 32, 64, 128, 256, 192, 160, 144, 152, 144, 144, 144},
			144, "the limits fail with 152 users",
		},
		{
			"a limit below the start", 16, 512, 3, nil,
			[]int{16, 8, 4, 2, 3, 3, 3, 3},
			3,
			"the limits fail with 4 users",
		},
		{
			"no limit in reach", 16, 40, 99, nil,
			[]int{16, 32, 40, 40, 40, 40},
			40,
			"no more users than 40 were allowed",
		},
		{
			"a limit that no user holds", 2, 512, 0, nil,
			[]int{2, 1},
			0,
			"the limits fail already with 1 user",
		},
		{
			"a confirming run fails: fewer users", 4, 512, 6,
			[]int{6},
			[]int{4, 8, 6, 7, 6, 6, 5, 5, 5, 5},
			5,
			"the limits fail with 6 users",
		},
		{
			"the interval of the confirming runs holds too few users only", 4, 512, 6,
			[]int{-7},
			[]int{4, 8, 6, 7, 6, 6, 6, 5, 5, 5, 5},
			5,
			"whether the limits hold with 6 users cannot be told",
		},
	} {
		var users []int
		var trials []result.Trial
		config := result.SearchConfig{Start: c.start, Max: c.max, Confirm: 3}
		next, found := Next(config, nil)
		for ; next.Threads > 0; next, found = Next(config, trials) {
			users = append(users, next.Threads)
			next.CannotTell = slices.Contains(c.bad, -len(users))
			next.Passed = next.Threads <= c.most && !slices.Contains(c.bad, len(users)) &&
				!next.CannotTell
			trials = append(trials, next)
		}
		assert.Equal(t, c.users, users, c.why)
		assert.Equal(t, result.SearchResult{Users: c.found, Why: c.reason}, found, c.why)
	}
}

// TestLeft: what is said to be left is what is made, once a limit has failed.
func TestLeft(t *testing.T) {
	config := result.SearchConfig{Start: 16, Max: 1024, Confirm: 3}
	for most := range 300 {
		var trials []result.Trial
		var left []int
		for next, _ := Next(config, nil); next.Threads > 0; next, _ = Next(config, trials) {
			next.Passed = next.Threads <= most
			trials = append(trials, next)
			n, known := Left(config, trials)

			if !known {
				n = -1
			}
			left = append(left, n)
		}
		for i, n := range left {
			if n >= 0 && most > 0 {
				assert.InDelta(
					t,
					len(left)-1-i,
					n,
					2,
					"%d users, after trial %d of %d",
					most,
					i+1,
					len(left),
				)
			}
		}
	}
}
