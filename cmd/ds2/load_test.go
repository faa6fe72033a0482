package main

import (
	"strings"
	"testing"
	"time"

	"ds2/internal/load"
)

func TestBoundLine(t *testing.T) {
	for _, c := range []struct {
		why        string
		worked     time.Duration
		processors int
		says       string
	}{
		{"nearly all of one processor", 9 * time.Second, 1, "90 % of this machine's 1 processors; ds2 set the pace, not the server: load from a machine with more processors"},
		{"the same of eight", 9 * time.Second, 8, "11 % of this machine's 8 processors; the server set the pace"},
		{"nobody knows", 0, 2, ""},
		{"neither", 12 * time.Second, 2, "60 % of this machine's 2 processors"},
	} {
		r := &load.Report{Processor: c.worked, Processors: c.processors, Phases: []load.PhaseTime{{Phase: load.PhaseData, Time: 10 * time.Second}},
			Tables: []load.TableReport{{Table: "orders", Bytes: 1}}}
		if got := boundLine(r); !strings.HasSuffix(got, c.says) || (got == "") != (c.says == "") {
			t.Errorf("%s: got %q, want it to say %q", c.why, got, c.says)
		}
	}
}
