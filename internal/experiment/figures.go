package experiment

import (
	"math"
	"time"

	"ds2/internal/device"
	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// span is the first window of a run.
func span(s result.Summary) (from, to time.Time) {
	at := func(seconds float64) time.Time { return s.Start.Add(time.Duration(seconds * float64(time.Second))) }
	return at(s.Windows[0].From), at(s.Windows[0].To)
}

// known is a figure that was measured; nil for NaN.
func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// powerOf takes the means of a run from its samples: idle over those before the first orders, active over the first
// window. Without a meter it takes RAPL's figures; without either there is none.
func powerOf(t monitor.Table, s result.Summary) *result.Power {
	source := monitor.Power
	if t.Values(source) == nil {
		source = monitor.PowerRAPL
	}
	if t.Values(source) == nil {
		return nil
	}
	var active *float64
	if len(s.Windows) > 0 {
		from, to := span(s)
		active = known(t.Mean(source, from, to))
	}
	return diagnose.NewPower(source, known(t.Mean(source, time.Time{}, s.Start)), active, s.OPM)
}

// figuresOf takes from the samples of the first window what the bottleneck is judged by. local says that ds2 ran on the
// databases' machine.
func figuresOf(t monitor.Table, s result.Summary, local bool, measured *device.Record) diagnose.Figures {
	from, to := span(s)
	mean := func(column string) *float64 { return known(t.Mean(column, from, to)) }
	// over gives what a function makes of the means of all items of a column.
	over := func(column string, f func(a, b float64) float64) (all *float64) {
		for _, item := range t.Items(column) {
			switch v := mean(item); {
			case v == nil:
			case all == nil:
				all = v
			default:
				all = new(f(*all, *v))
			}
		}
		return all
	}
	highest := func(column string) *float64 { return over(column, math.Max) }
	sum := func(column string) *float64 {
		return over(column, func(a, b float64) float64 { return a + b })
	}
	// busiest is of the machine or, where there are several, of that which has most.
	busiest := func(column string) *float64 {
		if v := mean(column); v != nil {
			return v
		}
		return highest(column)
	}
	f := diagnose.Figures{
		CPUBusy: busiest(monitor.CPUBusy), CPUIOWait: busiest(monitor.CPUIOWait),
		ClientBusy: mean(monitor.ClientBusy), ClientOwn: mean(monitor.ClientOwn), ClientUsed: mean(monitor.ClientUsed),
		ClientThrottled: mean(monitor.ClientThrottled), ServerUsed: highest(monitor.ServerUsed), ServerThrottled: highest(monitor.ServerThrottled),
		DiskBusy: highest(monitor.DiskBusy), NetworkUsed: highest(monitor.NetworkUsed),
		Sessions:     sessionsOf(sum),
		DatabaseSize: sum(monitor.DatabaseSize),
		CacheHits:    over(monitor.DatabaseCacheHits, func(_, last float64) float64 { return last }), // targets are driven alike
	}
	for _, column := range t.Items(monitor.DatabaseRoundTrip) {
		// The lower quartile: at times a busy machine lets a message lie.
		f.RoundTrip = known(t.Quantile(column, 0.25, from, to))
	}
	addDevices(&f, t, s, measured)
	if f == (diagnose.Figures{}) {
		return f
	}
	if local && s.Machine != nil {
		f.CPUOwn = share(f.ClientOwn, s.Machine.Processors)
		f.CPUDatabase = share(sum(monitor.ServerProcessors), s.Machine.Processors)
	}
	for _, server := range s.Servers {
		if c := server.Container; c != nil && c.Processors > 0 {
			f.ServerProcessors = &c.Processors
		}
	}
	f.ReadsPerOrder = perOrder(sum(monitor.DiskReads), s.OPM)
	f.ReadBytesPerOrder = perOrder(sum(monitor.ServerReadBytes), s.OPM)
	addUsers(&f, s)
	return f
}

// perOrder is what a rate a second comes to for each order.
func perOrder(rate, opm *float64) *float64 {
	if rate == nil || opm == nil || *opm <= 0 {
		return nil
	}
	return new(*rate * 60 / *opm)
}

// share is a number of processors as a share of all.
func share(processors *float64, all int) *float64 {
	if processors == nil {
		return nil
	}
	return new(*processors / float64(all))
}

// sessionsOf takes the sessions' numbers in all databases together.
func sessionsOf(sum func(column string) *float64) *diagnose.Sessions {
	number := func(column string) float64 {
		if v := sum(column); v != nil {
			return *v
		}
		return 0
	}
	return diagnose.NewSessions(diagnose.Sessions{
		Idle: number(monitor.SessionsIdle), Running: number(monitor.SessionsRunning),
		WaitingForLock: number(monitor.SessionsWaitingForLock), WaitingForDrives: number(monitor.SessionsWaitingForDrives),
		WaitingForLatch: number(monitor.SessionsWaitingForLatch), WaitingForClient: number(monitor.SessionsWaitingForClient),
		WaitingForRest: number(monitor.SessionsWaitingForRest),
	}, sum(monitor.SessionsActive))
}

// addUsers adds where the users' own time went in the first window: in operations, and of that in messages on their way,
// one to the server and one back for each operation, though some take more.
func addUsers(f *diagnose.Figures, s result.Summary) {
	w := s.Windows[0]
	count, seconds := 0.0, 0.0
	for operation, l := range w.Latency {
		if operation != measure.WholeOrder {
			count += float64(l.Count)
			seconds += float64(l.Count) * l.Mean / 1000
		}
	}
	all := (w.LatencyTo - w.LatencyFrom) * float64(s.Threads*len(s.Targets))
	if all == 0 {
		return
	}
	f.InOperations = new(seconds / all)
	if f.RoundTrip != nil {
		f.InRoundTrips = new(min(*f.RoundTrip*count/all, 1))
	}
}
