package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ds2/internal/load"
	"ds2/internal/store"
	"ds2/schema"

	"github.com/stretchr/testify/assert"
)

// TestServerLost: what a load advises where its server went away is no advice where the server answered and said why.
func TestServerLost(t *testing.T) {
	began := &load.Report{Phases: []load.PhaseTime{{Phase: schema.Tables, Time: time.Second}}}
	const memory = "if memory was short"
	for name, c := range map[string]struct {
		err    store.Error
		advice bool
	}{
		"the connection broke":    {store.Error{Class: store.Connection}, true},
		"the server is not there": {store.Error{Class: store.Connection, Hint: "start the server"}, true},
		"the server goes down":    {store.Error{Class: store.Connection, Code: "57P01"}, true},
		"its drive is full": {store.Error{Class: store.Connection, Code: "57P02", Hint: "only 3 MB are free"},
			false},
		"the role dbo does not exist": {store.Error{Class: store.Connection, Code: "33557097",
			Hint: "the text is PostgreSQL's"}, false},
		"the statement was refused": {store.Error{Class: store.Bug}, false},
	} {
		c.err.Err = errors.New(name)
		got := serverLost(&c.err, began).Error()
		assert.True(t, strings.Contains(got, memory) == c.advice, "%s: %s", name, got)
	}
}
