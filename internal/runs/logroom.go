package runs

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"ds2/internal/monitor"
	"ds2/internal/store"
)

// logRate is the time over which the growth of a log is measured.
const logRate = time.Minute

// logRoom watches logs that only a backup frees. A log that is full grows, and commits wait for that; so it warns where
// less is free than the run will write at the rate of the last minute.
type logRoom struct {
	run  time.Duration // from the first orders to the end; 0: nobody knows
	kept []keptLog

	mu       sync.Mutex
	warnings warnings // at most one of each log
}

// keptLog is the log of a target.
type keptLog struct {
	target     string
	size, used int         // columns of a sample
	use        []usedBytes // of the last minute
	warned     bool
}

// usedBytes is how full a log was.
type usedBytes struct {
	at    time.Time
	bytes float64
}

// watch finds the logs of targets that only a backup frees and of which the columns of the samples tell. Who may not
// ask is not warned.
func (l *logRoom) watch(ctx context.Context, targets []store.Database, columns []string) {
	for _, target := range targets {
		keeper := target.Can().Log
		if keeper == nil || l.run == 0 {
			continue
		}
		item := ""
		if len(targets) > 1 {
			item = target.Label()
		}
		size := slices.Index(columns, monitor.ItemColumn(monitor.DatabaseLogFiles, item))
		used := slices.Index(columns, monitor.ItemColumn(monitor.DatabaseLogFilesUsed, item))
		if _, _, kept, err := keeper.LogSpace(ctx); err == nil && kept && size >= 0 && used >= 0 {
			l.kept = append(l.kept, keptLog{target: target.Label(), size: size, used: used})
		}
	}
}

// sample looks at a sample of a run whose first orders started at start.
func (l *logRoom) sample(start time.Time, row monitor.Row) {
	left := l.run - row.Time.Sub(start)
	for i := range l.kept {
		k := &l.kept[i]
		size, used := row.Values[k.size], row.Values[k.used]
		if math.IsNaN(size) || math.IsNaN(used) || k.warned || left <= 0 {
			continue
		}
		rate := k.rate(usedBytes{row.Time, used}, min(logRate, l.run/4))
		free, need := size-used, rate*left.Seconds()
		if !(need > free) {
			continue
		}
		full := time.Duration(max(free, 0) / rate * float64(time.Second))
		k.warned = true
		l.mu.Lock()
		l.warnings.add("%s: %.0f MB of the log are free, and at %.1f MB/s the %s left will take %.0f MB: it will be "+
			"full in %s, must then grow, and commits wait for that; back it up, or load with a larger --log-size",
			k.target, free/1e6, rate/1e6, left.Round(time.Second), need/1e6, full.Round(time.Second))
		l.mu.Unlock()
	}
}

// rate is at which the log fills up, in bytes a second, over at least so long; NaN: it is not known yet.
func (k *keptLog) rate(now usedBytes, least time.Duration) float64 {
	k.use = append(slices.DeleteFunc(k.use, func(u usedBytes) bool { return now.at.Sub(u.at) > logRate }), now)
	over := now.at.Sub(k.use[0].at)
	if over < least {
		return math.NaN()
	}
	return (now.bytes - k.use[0].bytes) / over.Seconds()
}

// said are the warnings so far.
func (l *logRoom) said() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.warnings)
}

// Warnings are what has shown while the run goes on and should be known of it.
func (r *Run) Warnings() []string { return r.logs.said() }
