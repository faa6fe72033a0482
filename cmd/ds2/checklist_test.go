package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/preflight"
)

// TestChecksAreSorted: a check lists what failed first, then what it warns of, whatever the order in
// which it looked; what is in order is listed where details are asked for.
func TestChecksAreSorted(t *testing.T) {
	const failed = "FAILURE  port: taken; give another one by --metrics-addr\n"
	const warned = "warning  schema: hidden; check yourself that it is as ds2 load made it\n"
	for details, want := range map[bool]string{
		false: failed + warned,
		true:  failed + warned + "ok       lock: no other ds2 is at work on db\n",
	} {
		var shown bytes.Buffer
		l := checklist{w: &shown, check: true, details: details}
		l.note(preflight.NotLocked, "db", "")
		l.note(preflight.SchemaUnknown, "", "hidden")
		l.note(preflight.NoPort, "", "taken")
		l.list()
		assert.Equal(t, want, shown.String())
	}
}
