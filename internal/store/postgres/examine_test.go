package postgres

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestObstaclesAreAsked: each statement of the file is asked, and there is one of each kind.
func TestObstaclesAreAsked(t *testing.T) {
	text := query("database/obstacles")
	assert.Len(t, obstacles, strings.Count(text, "-- name: "))
	for _, kind := range obstacles {
		assert.Contains(t, text, "-- name: "+kind.Name()+"\n")
	}
}
