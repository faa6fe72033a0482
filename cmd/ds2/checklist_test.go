package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/store"
)

// TestChecksAreSorted: a check lists what failed first, then what it warns of, whatever the order in
// which it looked; what is in order is listed where details are asked for.
func TestChecksAreSorted(t *testing.T) {
	for details, want := range map[bool]string{
		false: "FAILURE  rights: none; grant them\nwarning  port: taken; take another\n",
		true: "FAILURE  rights: none; grant them\nwarning  port: taken; take another\n" +
			"ok       database: loaded\n",
	} {
		var shown bytes.Buffer
		l := checklist{w: &shown, check: true, details: details}
		l.ok("database", "loaded")
		l.warn("port", errors.New("taken"), "take another")
		l.add(store.Finding{
			What: "rights", State: store.Failure, Found: "none", Do: "grant them",
		})
		l.list()
		assert.Equal(t, want, shown.String())
	}
}
