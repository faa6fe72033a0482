package main

import (
	"strings"
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	for _, c := range []struct {
		why        string
		worked     time.Duration
		processors int
		says       string
	}{
		{"nearly all of one processor", 9 * time.Second, 1, "90 % of this machine's 1 processors; ds2 set the pace, not the server: load from a machine with more processors"},
		{"the same of eight", 9 * time.Second, 8, "11 % of this machine's 8 processors; the server set the pace"},
		{"neither", 12 * time.Second, 2, "60 % of this machine's 2 processors"},
	} {
		if got := pace(c.worked, 10*time.Second, c.processors); !strings.HasSuffix(got, c.says) {
			t.Errorf("%s: got %q, want it to say %q", c.why, got, c.says)
		}
	}
}
