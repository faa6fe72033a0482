package runs

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"ds2/internal/driver"
	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/sampling"
	"ds2/internal/workload"
)

// pace has the driver offer as many cycles as have the drives do a wanted number of I/Os: it finds
// the rate in the warm-up and leaves it as it is in the run.
type pace struct {
	record result.Pace
	set    func(rate float64)
	pacer  *driver.Pacer // nil before the first sample
	length time.Duration // of a sample
	from   time.Duration // when the sample under way began; 0: not yet
	cycles int64         // completed since
	kept   bool          // the rate stays as it is
	state  atomic.Value  // text: what is waited for

	samples  []paced
	averaged int // of these, the last, by which the rate is set where there are no vacuums
}

// paced is what a sample counted, or several.
type paced struct {
	seconds, cycles float64
	ios             sampling.Work // a second
}

// How a rate is begun and followed (mailbox/WORKLOAD.md section 5).
const (
	firstIOs    = 2  // I/Os per order, until they have been measured
	paceSamples = 10 // that a warm-up has at least, where they can be shorter
)

// MinPacedWarmup is what it takes at least to find a rate.
const MinPacedWarmup = 20 * time.Second

// pacedOver is the time over which a rate is set by the average: two naptimes of autovacuum.
const pacedOver = 2 * time.Minute

// mostVacuums is how many times as long it may be from the end of one vacuum to that of another.
const mostVacuums = 2

// maxPaceSample is the longest sample that a rate is corrected by.
const maxPaceSample = 15 * time.Second

// paceSample is how long a sample of a warm-up is, in which a rate is found.
func paceSample(warmup time.Duration) time.Duration {
	return max(min(maxPaceSample, warmup/paceSamples).Truncate(time.Second), 2*time.Second)
}

// targetOf is the target of a plan; 0 where it has none.
func targetOf(plan workload.Plan) (iops float64, paced bool) {
	if t, ok := plan.(workload.Targeted); ok {
		return t.TargetIOPS()
	}
	return 0, false
}

// CheckPace refuses a target so low that a sample counts too few I/Os to tell whether the rate
// makes it: of fewer than 1 / driver.Tolerance, one more or less is more than the tolerance.
func CheckPace(plan workload.Plan, warmup time.Duration) error {
	target, paced := targetOf(plan)
	sample := paceSample(warmup)
	// One I/O more or less of n is 1/n of the rate that is measured.
	least := 1 / driver.Tolerance
	if counts := target * sample.Seconds(); paced && target > 0 && counts < least {
		return fmt.Errorf(
			"the target is %.3g IOPS, of which a sample of %s counts %.3g: to be within %g %% it takes "+
				"%g; raise the target, or make the warm-up longer (a sample is a tenth of it, at most %s)",
			target, sample, counts, 100*driver.Tolerance, least, maxPaceSample)
	}
	return nil
}

// TargetLimits are the limits that the target of a plan sets its runs: a paced one may miss it by
// driver.Tolerance.
func TargetLimits(plan workload.Plan) []string {
	target, paced := targetOf(plan)
	if paced {
		target *= 1 - driver.Tolerance
	}
	if target == 0 {
		return nil
	}
	// Without an exponent, which no limit has.
	return []string{"iops >= " + strconv.FormatFloat(math.Round(target*1e4)/1e4, 'f', -1, 64)}
}

// newPace finds a rate for a target in a warm-up; nil where there is none.
func newPace(target float64, warmup time.Duration, set func(float64)) *pace {
	if target == 0 {
		return nil
	}
	length := paceSample(warmup)
	first := target / firstIOs
	// A short warm-up has no two naptimes of autovacuum that an average could span.
	averaged := int(pacedOver / length)
	if warmup < time.Minute {
		averaged = driver.InARow // nothing waits for more
	}
	return &pace{
		record: result.Pace{Target: target, First: first, Rate: first, Length: length.Seconds()},
		set:    set, length: length, averaged: averaged,
	}
}

// sample takes a second of the run.
func (p *pace) sample(s measure.Sample, o *observation) {
	if p == nil || p.kept {
		return
	}
	switch {
	case s.Phase == measure.PhaseRun:
		// The run proper has one rate: one that went on following the drives would hide what they
		// do.
		if p.kept = true; p.pacer != nil { // it has not settled
			p.pacer.Freeze()
			p.record.Rate = p.pacer.Rate
			p.set(p.record.Rate)
		}
		return
	case s.Phase != measure.PhaseWarmup:
		return
	case p.from == 0:
		p.from = s.End
		return
	}
	if p.cycles += s.Counts.Orders; s.End-p.from < p.length {
		return
	}
	if work, measured := o.drives(p.from, s.End).Work(); measured {
		p.take(paced{(s.End - p.from).Seconds(), float64(p.cycles), work})
	}
	p.from = s.End
	p.cycles = 0
}

// take corrects the rate by a sample.
func (p *pace) take(one paced) {
	p.samples = appendRecent(p.samples, one, mostVacuums*p.averaged)
	var seconds, cycles, drives, transactions, vacuums float64 // of all recent samples
	for _, s := range p.recent() {
		seconds += s.seconds
		cycles += s.cycles
		drives += s.ios.Drives * s.seconds
		transactions += s.ios.Transactions * s.seconds
		vacuums += s.ios.Vacuums * s.seconds
	}
	// What autovacuum reads and writes is not work of the users: the share of transactions is.
	if served := transactions + vacuums; served > 0 { // not NaN
		drives *= transactions / served
	}
	iops := drives / seconds
	rate := one.cycles / one.seconds
	if iops <= 0 || rate <= 0 {
		return
	}
	// I/Os per cycle over all recent samples, as one sample holds few of them.
	each := drives / cycles
	// The first sample shows how many I/Os the first rate, a guess, made of a cycle.
	if p.record.Samples++; p.pacer == nil {
		p.pacer = driver.NewPacer(p.record.Target, p.averaged, rate, iops)
	} else {
		p.pacer.Sample(rate, each)
	}
	p.record.Rate = p.pacer.Rate
	p.record.Reached = p.pacer.Frozen
	p.record.Limited = p.pacer.Limited
	p.kept = p.record.Reached
	p.state.Store(p.describeRate(each * rate))
	p.set(p.record.Rate)
}

// recent are the samples by which the rate is set: from the end of one vacuum to that of another,
// as drives work for a vacuum that its server counts when it ends, or the last ones. What is a
// tenth of the largest is no vacuum of records.
func (p *pace) recent() []paced {
	most := 0.
	for _, s := range p.samples {
		most = max(most, s.ios.Vacuums) // NaN where they are not told
	}
	vacuumed := func(s paced) bool { return s.ios.Vacuums > most/10 }
	first := slices.IndexFunc(p.samples, vacuumed)
	for i, s := range slices.Backward(p.samples) {
		if vacuumed(s) && i > first {
			return p.samples[first+1 : i+1]
		}
	}
	return p.samples[max(0, len(p.samples)-p.averaged):]
}

// findUnsettled finds where the rate did not settle.
func (p *pace) findUnsettled(w *noticed) {
	switch {
	case p == nil || p.record.Reached:
	case p.record.Limited:
		w.note(result.PaceMissed,
			"the store does not complete the work that %.6g IOPS take: take more users, or a lower target",
			p.record.Target)
	case p.pacer == nil:
		w.note(result.PaceMissed,
			"the rate for %.6g IOPS was not found: no sample of the warm-up had I/Os of the drives",
			p.record.Target)
	default:
		w.note(result.PaceMissed,
			"the rate for %.6g IOPS was not found by the end of the warm-up, after %d samples of %g s, and was set "+
				"by the last %d together; a cycle took %.3g to %.3g I/Os on average: take a longer --warmup-time",
			p.record.Target, p.record.Samples, p.record.Length, min(p.record.Samples, p.averaged),
			p.pacer.Least, p.pacer.Most)
	}
}

// describeRate says how far the rate is after a sample; empty: it was found.
func (p *pace) describeRate(iops float64) string {
	switch {
	case p.record.Reached:
		return ""
	case p.record.Limited:
		return fmt.Sprintf("rate: %.4g of %.4g IOPS, all that the store completes", iops,
			p.record.Target)
	}
	return fmt.Sprintf("rate: %.4g of %.4g IOPS, %d of %d samples", iops, p.record.Target,
		p.pacer.InARow, driver.InARow)
}

// nameWait says what is waited for; empty: nothing.
func (p *pace) nameWait() string {
	if p == nil {
		return ""
	}
	state, _ := p.state.Load().(string)
	return state
}
