package measure

import (
	"fmt"
	"strconv"

	"github.com/aclements/go-moremath/stats"
)

// student975 is the 97.5 % quantile of Student's t.
func student975(degrees float64) float64 { return Student(0.975, degrees) }

// Student is the quantile p of Student's t.
func Student(p, degrees float64) float64 { return stats.InvCDF(stats.TDist{V: degrees})(p) }

// Significance words a probability together with the level that it was held against: "p = 0.0104, not significant at
// 0.01". It has two digits, or as many as it takes to be seen on the right side of the level.
func Significance(p, level float64) string {
	const smallest = 1e-15 // what the sums behind p can tell from 0
	if p < smallest && p < level {
		return fmt.Sprintf("p < %g, significant at %g", smallest, level)
	}
	text := ""
	for digits := 2; digits < 17; digits++ {
		text = strconv.FormatFloat(p, 'g', digits, 64)
		if shown, _ := strconv.ParseFloat(text, 64); (shown < level) == (p < level) {
			break
		}
	}
	if p < level {
		return fmt.Sprintf("p = %s, significant at %g", text, level)
	}
	return fmt.Sprintf("p = %s, not significant at %g", text, level)
}
