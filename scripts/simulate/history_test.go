package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"ds2/internal/measure"
)

// daysOf are the results of days that vary by 2 % beside an effect that each day has of its own,
// the last of them changed by a percentage.
func daysOf(random *rand.Rand, effect float64, old, changed int, by float64) []float64 {
	days := make([]float64, old+changed)
	for i := range days {
		v := (.02*random.NormFloat64() + effect/100*random.NormFloat64())
		if i >= old {
			v += math.Log1p(by / 100)
		}
		days[i] = math.Exp(v)
	}
	return days
}

// TestHistory has histories of equal days, and of days that change in the end.
func TestHistory(t *testing.T) {
	made := simulated(t, "history", "between runs of a day 2 %, and of each day",
		"a change in 21 equal days", "in 100", "−5 %, found after 1 day", "after 3", "after 5", "the place exact, after 5")
	for _, effect := range []float64{0, 1, 2, 3} {
		random := randomOf(fmt.Sprint("history", effect))
		of := shares(func() []bool {
			none := func(days int) bool {
				return len(measure.ChangePoints(daysOf(random, effect, days, 0, 0))) > 0
			}
			all := []bool{none(21), none(100)}
			exact := false
			for _, changed := range []int{1, 3, 5} {
				points := measure.ChangePoints(daysOf(random, effect, 20, changed, -5))
				near := false
				exact = false
				for _, p := range points {
					near = near || p.High < 0 && p.At >= 18 && p.At <= 20+changed-1
					exact = exact || p.At == 20
				}
				all = append(all, near)
			}
			return append(all, exact)
		})
		row := []string{fmt.Sprintf("%.0f %%", effect)}
		for _, v := range of {
			row = append(row, share(v))
		}
		made.row(row...)
		made.hold("a change in 21 equal days", of[0], .04, "%v %%", effect)
		made.hold("a change in 100 equal days", of[1], .04, "%v %%", effect)
		for i, found := range []float64{.19, .65, .86} { // of Apache Otava
			if effect == 0 {
				made.hold("a change is not found", 1-of[2+i], 1-found, "that of Otava")
			}
		}
	}
}

// TestHistoryGate has a new day judged by a history: whether OPM fell by more than 5 %.
func TestHistoryGate(t *testing.T) {
	made := simulated(t, "history gate", "days before, and each day's own effect beside 2 %",
		"equal: fails", "passes", "−5 %: fails", "passes", "−10 %: fails", "−15 %: fails")
	for _, old := range []int{5, 10, 20} {
		for _, effect := range []float64{0, 1, 2, 3} {
			random := randomOf(fmt.Sprint("history gate", old, effect))
			of := shares(func() (all []bool) {
				for _, by := range []float64{0, -5, -10, -15} {
					days := daysOf(random, effect, old, 1, by)
					before := days[measure.LastChange(days[:old]):old]
					c := measure.CompareDay(before, days[old])
					fails := c.High < -5
					all = append(all, fails)
					if by > -10 {
						all = append(all, c.Low > -5)
					}
				}
				return all
			})
			row := []string{fmt.Sprintf("%d, %.0f %%", old, effect)}
			for _, v := range of {
				row = append(row, share(v))
			}
			made.row(row...)
			made.hold("an equal day fails", of[0], .03, "%d, %v %%", old, effect)
			made.hold("a day at the gate fails", of[2], .03, "%d, %v %%", old, effect)
		}
	}
}
