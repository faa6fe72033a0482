package conclude

import (
	"cmp"
	"slices"
	"time"

	"ds2/internal/measure"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// saturated is how busy the processors are when an operation that takes long may have waited for one.
const saturated = .95

// slowest says of the slowest orders of the window what was under way for at least half of the operation that took them
// the most time: a long I/O of the trace, a wait for a user, a lock or the drives by the server's samples, processors
// that were all busy, a checkpoint. An order has the first of these that holds. That it was the cause is not shown;
// that nothing of the kind was there is.
func (v view) slowest() *result.SlowOrders {
	slow := v.Series.Slowest(measure.Span{From: measure.Seconds(v.window.From), To: measure.Seconds(v.window.To)})
	if len(slow) == 0 {
		return nil
	}
	causes := make([]string, len(slow))
	all := &result.SlowOrders{}
	for i, o := range slow {
		all.Traced = all.Traced || o.IO != ""
		switch {
		case o.Operation == measure.WaitForUser:
			causes[i] = result.CauseUser
		case o.IO != "" && o.IO != measure.NoIO && 2*o.IOTime >= o.OperationTo-o.OperationFrom:
			causes[i] = o.IO
		}
	}
	v.sampled(slow, causes, monitor.SessionsWaitingForLock, result.CauseLock)
	if !all.Traced {
		v.sampled(slow, causes, monitor.SessionsWaitingForDrives, result.CauseStorage)
	}
	for i, o := range slow {
		from, to := v.Start.Add(o.OperationFrom), v.Start.Add(o.OperationTo)
		all.Orders = append(all.Orders, result.SlowOrder{
			From: o.From.Seconds(), To: o.To.Seconds(), Operation: o.Operation,
			OperationFrom: o.OperationFrom.Seconds(), OperationTo: o.OperationTo.Seconds(),
			Cause: cmp.Or(causes[i], v.beside(from, to)),
		})
	}
	all.Causes = counted(all.Orders)
	return all
}

// sampled lays a cause to orders without one. The server is asked once a second how many sessions wait for something:
// so many of the orders under way then, those that last longest, may be the ones. It holds for those that it holds for
// in each sample of theirs.
func (v view) sampled(slow []measure.SlowOrder, causes []string, column, cause string) {
	waiting := make([]float64, len(v.Counters.Rows))
	for _, item := range v.Counters.Items(column) {
		for i, n := range v.Counters.Values(item) {
			waiting[i] += n // NaN where one database did not answer, which is no sample
		}
	}
	seen, waited := make([]int, len(slow)), make([]int, len(slow))
	for r, row := range v.Counters.Rows {
		at := row.Time.Sub(v.Start)
		var under []int // way
		for i, o := range slow {
			if causes[i] == "" && o.OperationFrom < at && at < o.OperationTo {
				under = append(under, i)
			}
		}
		slices.SortStableFunc(under, func(a, b int) int {
			return cmp.Compare(slow[b].OperationTo, slow[a].OperationTo)
		})
		for place, i := range under {
			seen[i]++
			if float64(place) < waiting[r] {
				waited[i]++
			}
		}
	}
	for i := range slow {
		if seen[i] > 0 && waited[i] == seen[i] {
			causes[i] = cause
		}
	}
}

// beside is what else went on during an operation.
func (v view) beside(from, to time.Time) string {
	// A row stands for the second before it.
	if busy := v.Counters.Mean(monitor.CPUBusy, from, to.Add(monitor.Interval)); busy >= saturated {
		return result.CauseProcessors
	}
	begin, end := from.Sub(v.Start).Seconds(), to.Sub(v.Start).Seconds()
	for _, c := range v.Checkpoints {
		if 2*(min(c.To, end)-max(c.From, begin)) >= end-begin {
			return result.CauseCheckpoint
		}
	}
	return result.Unexplained
}

// counted counts orders by their causes.
func counted(orders []result.SlowOrder) (all []result.SlowCause) {
	for _, o := range orders {
		i := slices.IndexFunc(all, func(c result.SlowCause) bool { return c.Cause == o.Cause })
		if i < 0 {
			i = len(all)
			all = append(all, result.SlowCause{Cause: o.Cause, Operations: map[string]int{}})
		}
		all[i].Orders++
		all[i].Operations[o.Operation]++
		all[i].Longest = max(all[i].Longest, 1000*(o.To-o.From))
	}
	slices.SortStableFunc(all, func(a, b result.SlowCause) int {
		last := func(c result.SlowCause) int { return map[bool]int{true: 1}[c.Cause == result.Unexplained] }
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(b.Orders, a.Orders))
	})
	return all
}
