package measure

import (
	"math"
	"testing"
)

// TestPower: more blocks show less, and what a change could have shown agrees with how many more it takes.
func TestPower(t *testing.T) {
	if s := Scatter([][]float64{{100, 102}, {50, 51}, {10, 10.2}}); math.Abs(s-1.41) > .02 {
		t.Errorf("scatter %v %%, want 1.41", s)
	}
	if s := Scatter([][]float64{{100, 102}, {50}}); !math.IsNaN(s) {
		t.Errorf("scatter %v %% of two runs", s)
	}
	six, nine := Smallest(2, 2, 6, false), Smallest(2, 2, 9, false)
	if math.Abs(six-4.5) > .3 || nine >= six || Smallest(2, 2, 6, true) <= six || Smallest(2, 4, 6, false) >= six {
		t.Errorf("6 blocks find %v %%, 9 %v %%", six, nine)
	}
	c := newChange(0, .02, 4, 1)
	more := c.More(-2.5, 6)
	if more < 10 || more > 60 || c.More(-50, 6) != 0 || Unknown().More(1, 6) != -1 {
		t.Errorf("%d more blocks", more)
	}
}
