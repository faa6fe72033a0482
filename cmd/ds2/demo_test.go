package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestDemoHasAnInterval: a demo by its defaults runs for long enough to say how sure its figure is.
func TestDemoHasAnInterval(t *testing.T) {
	length := *newDemoCommand().Flags().Lookup("run-time").Value.(parsed[time.Duration]).value
	_, dir := measured(t, 0) // for a minute
	assert.NotNil(t, recordOf(t, dir).Windows[0].CI95)
	assert.GreaterOrEqual(t, length, time.Minute)
}
