package runs

import (
	"errors"
	"fmt"
	"time"

	"ds2/internal/diskspace"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// ErrRoom ends a run before a file system under its databases is full: a server whose drive is full
// goes down.
var ErrRoom = errors.New("no room")

// How little may be left: a share of the file system, but no more than a number of bytes, and what
// the run fills until the last users have left.
const (
	leastRoomShare = 0.05
	leastRoomBytes = 1 << 30
	leaving        = 10 * time.Second
)

// growthSamples are the seconds over which a run's own growth is taken.
const growthSamples = 60

// place is a file system of this machine that holds files of the databases.
type place struct {
	monitor.Room
	free   []int64 // bytes, at the last growthSamples and the one before; none: it cannot be asked
	first  int64
	warned bool
}

// space is how full the places were.
func space(places []*place) (all []result.Space) {
	for _, p := range places {
		if n := len(p.free); n > 0 {
			all = append(all, result.Space{
				Mount: p.Mount, Bytes: p.Size, FreeBefore: p.first, FreeAfter: p.free[n-1],
			})
		}
	}
	return all
}

// checkRoom looks how much is free, and tells of a place that will be full before the run ends. The
// error ends the run.
func (r recorder) checkRoom(s measure.Sample) error {
	if s.Phase == measure.PhaseDrain {
		return nil
	}
	for _, p := range r.places {
		free, ok := diskspace.Free(p.Dir)
		if !ok {
			continue
		}
		if len(p.free) == 0 {
			p.first = free
		}
		p.free = appendRecent(p.free, free, growthSamples+1)
		seconds := len(p.free) - 1
		if seconds == 0 {
			continue
		}
		// A file system that gets emptier, as after a checkpoint that recycles log, does not grow.
		growth := max(0, float64(p.free[0]-free)/float64(seconds)) // bytes a second
		least := min(int64(leastRoomShare*float64(p.Size)), leastRoomBytes)
		if growth > 0 && float64(free) < float64(least)+growth*leaving.Seconds() {
			return fmt.Errorf(
				"%w: %s has %d of %d MB left and filled by %.3g MB a second, so the run was ended: make "+
					"room there, or take a shorter run or a lower rate",
				ErrRoom, p.Mount, free/1e6, p.Size/1e6, growth/1e6)
		}
		left := float64(free-least) / growth  // seconds
		remains := r.options.Length() - s.End // negative, where the run goes on until stopped
		if seconds == growthSamples && growth > 0 && left < remains.Seconds() && !p.warned {
			p.warned = true
			r.options.Tell(
				"warning: %s has %d MB left and fills by %.3g MB a second: at that rate the run ends in %s, with "+
					"%s still to go",
				p.Mount, free/1e6, growth/1e6, time.Duration(max(left, 0))*time.Second,
				remains.Round(time.Second))
		}
	}
	return nil
}
