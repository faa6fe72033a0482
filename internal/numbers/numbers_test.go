package numbers

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWorth(t *testing.T) {
	for _, c := range []struct {
		f, half float64
		want    string
	}{
		{65511.133, 4084.184, "65,500"},
		{65511.133, 84.184, "65,511"},
		{65511.133, 8.4184, "65,511"},
		{63812.7, 412, "63,810"},
		{6564.02, 130, "6,560"},
		{437.2, 480, "440"},
		{2.456, 0.86, "2.46"},
		{5, 0, "5.0"},
		{99.94, 0, "99.9"},
		{6564.02, 0, "6,564"},
	} {
		assert.Equal(t, c.want, Worth(c.f, c.half), "%v ± %v is shown as", c.f, c.half)
	}
}
