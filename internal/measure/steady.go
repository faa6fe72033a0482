package measure

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"
)

// Steadiness is the verdict whether OPM held still in a window. It is the rule by which SNIA's
// Solid State Storage Performance Test Specification (version 2.0.2, the definition of "Steady
// State") judges five rounds of a storage test, applied to five equal parts of the window, or to
// its whole checkpoint cycles: the rounds' range is at most 20 % of their mean, and the line of
// least squares through them rises or falls by at most 10 % of it from the middle of the first of
// five to that of the last, which is 12.5 % over the window.
type Steadiness struct {
	Verdict bool    `json:"verdict"`
	Range   float64 `json:"range_pct"` // highest less lowest round, in percent of the mean
	// change of the line of least squares over the window, in percent of the mean
	Drift float64 `json:"drift_pct"`
	Why   string  `json:"why"` // the verdict in words
	// the window is too short for a verdict
	Unjudged bool `json:"unjudged,omitempty"`
}

const (
	rounds       = 5
	maxRangePct  = 20
	maxDriftPct  = 12.5
	minPerRound  = 2 // samples
	mserUnusable = 5 // batches at the end, over which the statistic is too volatile
)

// judge applies the rule to a window. One that holds two whole checkpoint cycles or more is judged
// over those, in up to five rounds of whole cycles: what comes back in each is no change.
func (s Series) judge(span Span) Steadiness {
	begins := s.cyclesBegunIn(span)
	if cycles := len(begins) - 1; cycles > 1 {
		rates := make([]float64, min(rounds, cycles))
		for i := range rates {
			rates[i] = s.opm(Span{begins[i*cycles/len(rates)], begins[(i+1)*cycles/len(rates)]})
		}
		return judgeRounds(rates, "checkpoint cycles in the window")
	}
	samples := s.within(span)
	if len(samples) < rounds*minPerRound {
		return Steadiness{
			Why:      fmt.Sprintf("not judged: fewer than %d samples", rounds*minPerRound),
			Unjudged: true,
		}
	}
	rates := make([]float64, rounds) // of as nearly equal length as the samples allow
	for i := range rates {
		part := samples[i*len(samples)/rounds : (i+1)*len(samples)/rounds]
		rates[i] = OrdersPerMinute(ordersOf(part))
	}
	return judgeRounds(rates, "fifths of the window")
}

// judgeRounds applies the rule to the OPM of rounds, of which there are at least two.
func judgeRounds(rates []float64, what string) Steadiness {
	mean := stat.Mean(rates, nil)
	if mean == 0 {
		return Steadiness{Why: "not steady: nothing was completed"}
	}
	slope, _ := Slope(rates)
	s := Steadiness{
		Range: 100 * (slices.Max(rates) - slices.Min(rates)) / mean,
		Drift: 100 * slope * float64(len(rates)) / mean,
	}
	var failed []string
	if s.Drifts() {
		failed = append(failed,
			fmt.Sprintf("the rate drifts by %+.1f %% over the window, more than %g %%",
				s.Drift, maxDriftPct))
	}
	if s.Range > maxRangePct {
		failed = append(failed,
			fmt.Sprintf("%s differ by %.1f %%, more than %d %%", what, s.Range, maxRangePct))
	}
	s.Verdict = len(failed) == 0
	if s.Verdict {
		s.Why = fmt.Sprintf("steady: %s differ by %.1f %%, drift %+.1f %%", what, s.Range, s.Drift)
	} else {
		s.Why = "not steady: " + strings.Join(failed, ", and ")
	}
	return s
}

// Drifts tells whether the window is not steady by its drift.
func (s Steadiness) Drifts() bool { return math.Abs(s.Drift) > maxDriftPct }

// Steady finds where the run became steady, by MSER-5, and gives the span from there to the end of
// the run phase. MSER-5 cuts off the beginning that makes the standard error of what remains
// smallest, over means of five samples (K. P. White, M. J. Cobb, S. C. Spratt, "A Comparison of
// Five Steady-State Truncation Heuristics for Simulation", Proceedings of the 2000 Winter
// Simulation Conference); in a run of many hours over means of ten, twenty and so on. A cut in the
// second half means, as usual with this method, that the run was too short or never steady. But a
// rare stall or a slow wander moves the cut there, too: what the best cut in the first half leaves
// is steady where it passes the rule of Steadiness and has no trend. What comes back in each
// checkpoint cycle is no change: its shape is taken off.
func (s Series) Steady() (span Span, ok bool) {
	if span, ok = s.fromCut(); ok || span.To == 0 {
		return span, ok
	}
	judged := s.judge(span)
	if !judged.Verdict {
		return span, false
	}
	trend := s.trend(s.within(span), judged)
	return span, trend != nil && !trend.Found
}

// fromCut is the span from the best cut in the first half; false where there is a better one in the
// second half, and of length 0 where the run is too short to tell.
func (s Series) fromCut() (span Span, ok bool) {
	run := s.Phase(PhaseRun)
	var sums batchSums
	for _, sample := range s.Samples {
		if sample.End <= run.To {
			sums.add(sample)
		}
	}
	rates := sums.rates()
	s.lessShape(rates, sums.batches)
	if len(rates) <= 2*mserUnusable {
		return Span{}, false
	}
	first, ok := steadyFrom(rates)
	return Span{sums.batches[first].from.Round(time.Millisecond), run.To}, ok
}

// lessShape takes the shape of whole checkpoint cycles off the rates of batches, where there are
// two such cycles or more.
func (s Series) lessShape(rates []float64, batches []batchSum) {
	cycles := len(s.Cycles) - 1
	if cycles < 2 || len(rates) == 0 {
		return
	}
	period := (s.Cycles[cycles] - s.Cycles[0]) / time.Duration(cycles)
	fine := max(1, int(period/(batches[0].to-batches[0].from))) // as batches are long
	// of the middle of a batch, cycles before and after as long as others
	phase := func(i int) int {
		at := batches[i].from + (batches[i].to-batches[i].from)/2
		begin := s.Cycles[0] - ((s.Cycles[0]-at)/period+1)*period
		length := period
		for k, b := range s.Cycles {
			if b <= at {
				begin = b
				length = period
				if k < cycles {
					length = s.Cycles[k+1] - b
				}
			}
		}
		return int((at-begin)*time.Duration(fine)/max(1, length)) % fine
	}
	ofPhase := make([][]float64, fine)
	for i, rate := range rates {
		ofPhase[phase(i)] = append(ofPhase[phase(i)], rate)
	}
	for i := range rates { // the median leaves a start-up, which is in one cycle, as it is
		rates[i] -= Median(ofPhase[phase(i)])
	}
}

// mser is the number of leading values, of at most that many, whose removal minimizes the variance
// of the rest divided by its length.
func mser(values []float64, most int) int {
	best := math.Inf(1)
	cut := 0
	var n, sum, squares float64
	// Backwards, as the sums of each rest come from those of the one after it; of equally good cuts
	// the last one seen leaves the most.
	for i, v := range slices.Backward(values) {
		n++
		sum += v
		squares += v * v
		if i > min(most, len(values)-mserUnusable) {
			continue
		}
		if z := (squares - sum*sum/n) / (n * n); z <= best {
			best = z
			cut = i
		}
	}
	return cut
}
