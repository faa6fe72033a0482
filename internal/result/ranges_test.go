package result

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestManyNamed: of many numbers that are wrong the first ten ranges are named.
func TestManyNamed(t *testing.T) {
	var odd []int64
	for n := range int64(1632) {
		odd = append(odd, 2*n+1)
	}
	text := Named("numbers", odd)
	assert.True(t, strings.HasPrefix(text, "1632: numbers 1, 3, 5, "), text)
	assert.True(t, strings.HasSuffix(text, " 17, 19, …"), text)
}
