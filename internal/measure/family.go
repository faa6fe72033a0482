package measure

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// Family is how many differences are stated together, and of which kind: what is said of all of
// them holds at the level of one (R. G. Miller, Simultaneous Statistical Inference, 1981). Who
// states seven differences between equal systems at .05 each claims one in a sixth of all cases.
type Family struct {
	of          kind
	comparisons int
}

// kind is what the differences of a family share, which decides how their errors hang together.
type kind int

const (
	apart     kind = iota // each has its own variance
	withFirst             // all have one configuration in common, and one variance
	everyTwo              // of all configurations, with one variance
)

// Alone is a difference that is stated by itself.
var Alone = Family{apart, 1}

// Apart is of differences each of which has a variance of its own.
func Apart(differences int) Family { return Family{apart, differences} }

// WithFirst is of configurations that are each compared with the first of them.
func WithFirst(configurations int) Family { return Family{withFirst, max(1, configurations-1)} }

// EveryTwo is of configurations every two of which are compared.
func EveryTwo(configurations int) Family {
	return Family{everyTwo, max(1, configurations*(configurations-1)/2)}
}

// apart is the family where each difference has its own variance.
func (f Family) apart() Family { return Family{apart, f.comparisons} }

// configurations are how many the family compares.
func (f Family) configurations() float64 {
	if f.of == everyTwo {
		return (1 + math.Sqrt(1+8*float64(f.comparisons))) / 2
	}
	return float64(f.comparisons + 1)
}

// chance is the probability that any difference of the family lies t standard errors from the truth
// or farther. Those of one variance: C. W. Dunnett, "A Multiple Comparison Procedure for Comparing
// Several Treatments with a Control", Journal of the American Statistical Association 50, 1955, and
// the studentized range of J. W. Tukey, "The Problem of Multiple Comparisons", 1953, by integration
// over the figure in common and the variance's own error. Others: Z. Šidák, "Rectangular Confidence
// Regions for the Means of Multivariate Normal Distributions", Journal of the American Statistical
// Association 62, 1967, which holds for any number and share of what they have in common.
func (f Family) chance(t, degrees float64) float64 {
	t = math.Abs(t)
	one := twoSided(t, degrees)
	if f.comparisons == 1 || math.IsNaN(one) {
		return one
	}
	if f.of == apart {
		return -math.Expm1(float64(f.comparisons) * math.Log1p(-one))
	}
	if one < 1e-9 { // below what the integral can tell from 0, the bound is as good
		return min(1, one*float64(f.comparisons))
	}
	squared := distuv.ChiSquared{K: degrees}
	from := math.Sqrt(squared.Quantile(1e-13) / degrees)
	to := math.Sqrt(squared.Quantile(1-1e-13) / degrees)
	unseen := quad.Fixed(func(s float64) float64 {
		density := 2 * degrees * s * squared.Prob(degrees*s*s)
		return density * f.outside(math.Sqrt2*t*s)
	}, from, to, nodes, quad.Legendre{}, 0)
	return min(1, max(0, unseen))
}

const nodes = 64 // of an integral

// standardNormal are places of the standard normal distribution, and what its density gives them in
// an integral.
var standardNormal = sync.OnceValues(func() (places, weights []float64) {
	places = make([]float64, nodes)
	weights = make([]float64, nodes)
	quad.Legendre{}.FixedLocations(places, weights, -8, 8)
	for i, z := range places {
		weights[i] *= distuv.UnitNormal.Prob(z)
	}
	return places, weights
})

// outside is the probability that any of the family's differences between standard normal figures
// is larger than width.
func (f Family) outside(width float64) float64 {
	n := f.configurations()
	inside := 0.
	places, weights := standardNormal()
	if f.of == everyTwo {
		for i, z := range places { // of the largest
			inside += n * weights[i] * math.Pow(normal(z)-normal(z-width), n-1)
		}
		return 1 - inside
	}
	// z is the one in common, and all others lie within width of it: as many of z as of -z.
	for i, z := range places[:nodes/2] {
		inside += 2 * weights[i] * math.Pow(normal(z+width)-normal(z-width), n-1)
	}
	return 1 - inside
}

// normal is the distribution function of a standard normal figure.
func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// critical is how many standard errors an interval of the family reaches from the estimate at a
// level.
func (f Family) critical(level, degrees float64) float64 {
	if f.comparisons == 1 || f.of == apart {
		each := -math.Expm1(math.Log1p(-level) / float64(f.comparisons))
		return Student(1-each/2, degrees)
	}
	if !(degrees > 0) {
		return math.NaN()
	}
	of := criticalOf{f, level, degrees}
	if known, ok := criticals.Load(of); ok {
		return known.(float64)
	}
	// It lies between that of one comparison and Bonferroni's of all, and is bisected from these.
	low := Student(1-level/2, degrees)
	high := Student(1-level/2/float64(f.comparisons), degrees)
	for high-low > 1e-11*high {
		if middle := (low + high) / 2; f.chance(middle, degrees) > level {
			low = middle
		} else {
			high = middle
		}
	}
	criticals.Store(of, high)
	return high
}

// criticals are those that were computed, since each takes 20 ms, and few differ.
var criticals sync.Map

// criticalOf is all that a critical value depends on.
type criticalOf struct {
	Family
	level, degrees float64
}
