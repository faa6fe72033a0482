package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"
)

// ChangePoint is where measurements of many days come to another level: at the index At. Change is
// of the levels before and after it, up to the change points next to it. P and the interval are
// those of the largest change of all places that there are.
type ChangePoint struct {
	At int
	Change
}

// ChangePointLevel is the P below which there is a change point: of equal days, how often one is
// found.
const ChangePointLevel = 0.03

// FewestDays is among how many days at least a change of level can be found.
const FewestDays = 5

// ChangePoints finds where positive measurements change, in the order of time: by binary
// segmentation, as the place with the largest Student's t of the logarithms before and after it.
// How large that is by chance among as many equal days is simulated, as the places share their days
// (K. J. Worsley, "On the Likelihood Ratio Test for a Shift in Location of Normal Populations",
// Journal of the American Statistical Association 74, 1979). A permutation could not tell the last
// day of twenty from the others: 2 in 21 have it at an end.
func ChangePoints(values []float64) (found []ChangePoint) {
	if !positive(values) {
		return nil
	}
	logs := logarithms(values)
	bounds := []int{0} // of the levels
	var split func(from, to int)
	split = func(from, to int) {
		at, t := largestChange(logs[from:to])
		if to-from < FewestDays || chanceOfChange(to-from, t) >= ChangePointLevel {
			return
		}
		split(from, from+at)
		bounds = append(bounds, from+at)
		split(from+at, to)
	}
	split(0, len(logs))
	bounds = append(bounds, len(logs))
	for i, at := range bounds[1 : len(bounds)-1] {
		levels := logs[bounds[i]:bounds[i+2]] // the one that ends here, and the one that begins
		found = append(found, ChangePoint{at, changeAt(levels, at-bounds[i])})
	}
	return found
}

// LastChange is where the last change of measurements is, from which on they are of one level; 0
// where there is none.
func LastChange(values []float64) int {
	at := 0
	for _, found := range ChangePoints(values) {
		at = found.At
	}
	return at
}

// changeAt is the change at a place. Neighbours of it that were split later leave fewer days than
// it was found among.
func changeAt(logs []float64, at int) Change {
	difference, deviation := meanDifference(logs, at)
	days := max(len(logs), FewestDays)
	half := deviation * criticalChange(days)
	return Change{
		Percent: percentOf(difference),
		Low:     percentOf(difference - half),
		High:    percentOf(difference + half),
		P:       chanceOfChange(days, math.Abs(difference)/deviation),
	}
}

// meanDifference is that of the means from a place on and before it, and its standard error.
func meanDifference(logs []float64, at int) (by, deviation float64) {
	before := float64(at)
	after := float64(len(logs) - at)
	meanBefore, varianceBefore := stat.PopMeanVariance(logs[:at], nil)
	meanAfter, varianceAfter := stat.PopMeanVariance(logs[at:], nil)
	squares := before*varianceBefore + after*varianceAfter
	return meanAfter - meanBefore, math.Sqrt(squares / (before + after - 2) * (1/before + 1/after))
}

// largestChange is where Student's t of what is before and after is largest, and how large.
func largestChange(logs []float64) (at int, t float64) {
	n := float64(len(logs))
	mean, variance := stat.MeanVariance(logs, nil)
	squares := variance * (n - 1)
	sum := 0.
	// What two levels explain follows from the sum before each place: one pass tries them all.
	most := 0. // of the squares, that a place explains
	for i, v := range logs[:max(0, len(logs)-1)] {
		sum += v - mean
		before := float64(i + 1)
		if explained := sum * sum * n / (before * (n - before)); explained > most {
			most = explained
			at = i + 1
		}
	}
	// Student's t of the two levels, from what they explain of the squares and what they leave.
	return at, math.Sqrt((n - 2) * most / (squares - most))
}

// simulatedDays is how often equal days are simulated.
const simulatedDays = 10_000

// largestByChance are the changesByChance that were simulated, by the number of days.
var largestByChance sync.Map

// changesByChance are the largest changes of equal days, sorted. They are the same in each process,
// as the generator's seed is.
func changesByChance(days int) []float64 {
	if known, ok := largestByChance.Load(days); ok {
		return known.([]float64)
	}
	random := rand.New(rand.NewPCG(1, uint64(days)))
	all := make([]float64, simulatedDays)
	logs := make([]float64, days)
	for i := range all {
		for k := range logs {
			logs[k] = random.NormFloat64()
		}
		_, all[i] = largestChange(logs)
	}
	slices.Sort(all)
	largestByChance.Store(days, all)
	return all
}

// chanceOfChange is how likely equal days have a change at least as large.
func chanceOfChange(days int, t float64) float64 {
	all := changesByChance(days)
	smaller, _ := slices.BinarySearch(all, t)
	return float64(1+len(all)-smaller) / float64(1+len(all))
}

// criticalChange is how large the changes of 95 % of equal days are at most.
func criticalChange(days int) float64 {
	all := changesByChance(days)
	return all[len(all)*95/100]
}

// CompareDay compares a day that has come with the days before it: its level, with what every day
// has of its own, lies in the interval. The variation between days is that of those before.
func CompareDay(before []float64, day float64) Change {
	c := Unknown()
	if !positive(before) || !(day > 0) {
		return c
	}
	logs := logarithms(before)
	mean, variance := stat.MeanVariance(logs, nil)
	n := float64(len(logs))
	c.Percent = percentOf(math.Log(day) - mean)
	if !(variance > 0) {
		return c
	}
	// A day differs from the level by its own variation and by that of the mean of the others.
	deviation := math.Sqrt(variance * (1 + 1/n))
	return newChange(estimate{math.Log(day) - mean, deviation, n - 1, Alone}, 1)
}
