package conclude

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sampling"
)

// meanPower takes the means of a run from its samples: idle over those before the first orders,
// active over the window. Without a meter there is none.
func (v view) meanPower() *result.Power {
	if v.Counters.Values(sampling.Power) == nil {
		return nil
	}
	return &result.Power{
		Idle:   measure.Known(v.Counters.Mean(sampling.Power, time.Time{}, v.Start)),
		Active: v.meanOf(sampling.Power),
	}
}

// collectEvidence takes from the samples of the window what the bottleneck is judged by.
func (v view) collectEvidence() result.Evidence {
	// busiest is of the machine or, where there are several, of that which has most.
	busiest := func(column string) *float64 { return cmp.Or(v.meanOf(column), v.highestOf(column)) }
	f := result.Evidence{
		CPUBusy:         busiest(sampling.CPUBusy),
		CPUIOWait:       busiest(sampling.CPUIOWait),
		ClientBusy:      v.meanOf(sampling.ClientBusy),
		ClientOwn:       v.meanOf(sampling.ClientOwn),
		ClientUsed:      v.meanOf(sampling.ClientUsed),
		ClientThrottled: v.meanOf(sampling.ClientThrottled),
		ServerUsed:      v.highestOf(sampling.ServerUsed),
		ServerThrottled: v.highestOf(sampling.ServerThrottled),
		DiskBusy:        v.highestOf(sampling.DiskBusy),
		NetworkUsed:     v.highestOf(sampling.NetworkUsed),
		Sessions:        v.addUpSessions(),
		DatabaseSize:    v.totalOf(sampling.DatabaseSize),
		CacheHits:       v.cacheHits(sampling.DatabaseCacheHits),
	}
	// The longest of all targets' round trips: users wait for the farthest.
	trips := v.Counters.Items(sampling.DatabaseRoundTrip)
	if v.Local {
		// a message to the same machine waits for its CPUs, not for a network
		trips = nil
		f.NetworkUsed = nil
	}
	for _, column := range trips {
		// The lower quartile: at times a busy machine lets a message lie.
		f.RoundTrip = combineKnown(math.Max, f.RoundTrip,
			measure.Known(v.Counters.Quantile(column, 0.25, v.from, v.to)))
	}
	v.addDevices(&f)
	// Without counters the only evidence of a bottleneck is that attempts failed.
	if f == (result.Evidence{}) && v.window.Errors == 0 {
		return f
	}
	w := v.window
	f.HeldUp = &w.HeldUp
	f.Stalled = &w.Stalled
	if w.Still > 0 {
		f.Still = &w.Still
	}
	f.Errors = measure.Known(w.ErrorShare())
	if v.Local && v.Machine != nil {
		processors := float64(v.Machine.Processors)
		f.CPUOwn = divideKnown(f.ClientOwn, processors)
		f.CPUDatabase = divideKnown(v.totalOf(sampling.ServerProcessors), processors)
	}
	// Full CPUs are few in a container that may use a part of them only.
	for _, server := range v.Servers {
		if c := server.Container; c != nil && c.Processors > 0 {
			f.ServerProcessors = &c.Processors
		}
	}
	orders := w.OPM / 60 // a second, as the counters are
	f.ReadsPerOrder = divideKnown(v.totalOf(sampling.DiskReads), orders)
	f.ReadBytesPerOrder = divideKnown(v.totalOf(sampling.ServerReadBytes), orders)
	v.addUsers(&f)
	return f
}

// divideKnown is a part by its whole; nil where one of the two is not known or the whole is
// nothing.
func divideKnown(part *float64, whole float64) *float64 {
	if part == nil || whole <= 0 {
		return nil
	}
	return new(*part / whole)
}

// addUpSessions takes the sessions' numbers in all databases together.
func (v view) addUpSessions() *result.Sessions {
	number := func(column string) float64 { return *cmp.Or(v.totalOf(column), new(0.0)) }
	return diagnose.NewSessions(result.Sessions{
		Idle:             number(sampling.SessionsIdle),
		Running:          number(sampling.SessionsRunning),
		WaitingForLock:   number(sampling.SessionsWaitingForLock),
		WaitingForDrives: number(sampling.SessionsWaitingForDrives),
		WaitingForLatch:  number(sampling.SessionsWaitingForLatch),
		WaitingForClient: number(sampling.SessionsWaitingForClient),
		WaitingForRest:   number(sampling.SessionsWaitingForRest),
	}, v.totalOf(sampling.SessionsActive))
}

// addUsers adds where the users' own time went in the window: in operations, and of that in
// messages on their way, one to the server and one back for each operation, though some take more.
func (v view) addUsers(f *result.Evidence) {
	w := v.window
	count := 0.0
	seconds := 0.0
	// a sum of floats depends on the order
	for _, operation := range slices.Sorted(maps.Keys(w.Latency)) {
		if l := w.Latency[operation]; operation != measure.WholeOrder {
			count += float64(l.Count)
			seconds += float64(l.Count) * l.Mean / 1000
		}
	}
	all := (w.LatencyTo - w.LatencyFrom) * float64(v.AllUsers())
	f.InOperations = divideKnown(&seconds, all)
	if f.RoundTrip != nil && all > 0 {
		f.InRoundTrips = new(min(*f.RoundTrip*count/all, 1))
	}
}

// addDevices adds how near the devices were to their limit in the window: by what was measured of
// them before, if anything was, and by the queue and the time of reads against the same run's best
// seconds.
func (v view) addDevices(f *result.Evidence) {
	f.VolumeIOPS = v.highestOf(sampling.VolumeIOPSExceeded)
	f.VolumeThroughput = v.highestOf(sampling.VolumeThroughputExceeded)
	f.MachineIOPS = v.highestOf(sampling.MachineIOPSExceeded)
	f.MachineThroughput = v.highestOf(sampling.MachineThroughputExceeded)
	reads := 0.0 // a second, of the drives whose times are known
	var took *float64
	for _, column := range v.Counters.Items(sampling.DiskReads) {
		_, item := sampling.SplitColumn(column)
		times := sampling.ItemColumn(sampling.DiskReadTime, item)
		rate := *cmp.Or(v.meanOf(column), new(0.))
		time := v.secondsTaken(column, times)
		if time != nil {
			reads += rate
			took = combineKnown(add, took, time)
		}
		// How busy a drive is says little, since one of flash serves many requests at once; a queue
		// says that it has more of them than it serves.
		// The drive with the longest queue is the one that users wait for.
		queue := v.meanOf(sampling.ItemColumn(sampling.DiskQueue, item))
		if queue == nil || f.DiskQueue != nil && *queue < *f.DiskQueue {
			continue
		}
		f.DiskQueue = queue
		f.DiskSlowdown = nil
		// A few seconds may have no more than a read from its cache.
		best := v.Counters.Quantile(times, 0.05, v.Start, v.End)
		if best > 0 && rate > 0 && time != nil && *time > 0 {
			f.DiskSlowdown = new(*time / rate / best)
		}
	}
	if v.Device == nil {
		return
	}
	if took != nil {
		// Against what the drive did by itself at the same latency, not at its most: a store whose
		// users wait 1 ms for a read asks for what the drive gives in 1 ms.
		f.DeviceReads = new(0.0)
		f.DeviceMost = new(reads / v.Device.MaxReads())
		if reads > 0 && *took > 0 {
			f.DeviceReads = new(reads / v.Device.ReadsAt(*took/reads))
		}
	}
	// The log is flushed in order, one flush after the other, so its limit is that of depth 1.
	f.DeviceLog = divideKnown(v.totalOf(sampling.DatabaseLogSyncs), v.Device.Log.IOPS)
}

// Counters are the mean, the lowest and the highest value of each column of a run's counters in its
// first window, or in the whole run where there is none; NaN of one without values.
func Counters(r *result.Record) (all [][]float64) {
	from := r.Start
	to := r.End
	if len(r.Windows) > 0 {
		from = r.At(r.Windows[0].From)
		to = r.At(r.Windows[0].To)
	}
	// Quantiles 0 and 1 are the lowest and the highest.
	for _, column := range r.Host.Columns {
		all = append(all, []float64{
			r.Host.Mean(column, from, to),
			r.Host.Quantile(column, 0, from, to), r.Host.Quantile(column, 1, from, to),
		})
	}
	return all
}

// EachSecond are the reads and writes of the data's drives in each sample of a run, a second, as
// its result counts them; NaN where they are not known.
func EachSecond(r *result.Record) (rates []float64) {
	rows := r.Host.Rows
	for _, s := range r.Series.Samples {
		d := sampling.Drives{Counters: r.Host, Machine: r.Machine}
		d.To = r.Start.Add(s.End)
		d.From = d.To.Add(-s.Length)
		// The rows of this second alone: a search through all of them for each of a run's thousands
		// of seconds would take longer than the report.
		for len(rows) > 0 && !rows[0].Time.After(d.From) {
			rows = rows[1:]
		}
		n := 0
		for n < len(rows) && !rows[n].Time.After(d.To) {
			n++
		}
		d.Counters.Rows = rows[:n]
		rates = append(rates, d.IOPS())
	}
	return rates
}

// Thinned is a column in at most n points: means of neighbours, at the time of the first; NaN where
// none is known.
func Thinned(t *sampling.Table, column string, most int) (points sampling.Series) {
	// Rounded up, so that the points are no more than most.
	size := max(1, (len(t.Rows)+most-1)/most)
	at := 0
	for values := range slices.Chunk(t.Values(column), size) {
		sum := 0.
		n := 0.
		for _, v := range values {
			if !math.IsNaN(v) {
				sum += v
				n++
			}
		}
		points = append(points, sampling.Point{Time: t.Rows[at].Time, Value: sum / n})
		at += size
	}
	return points
}
