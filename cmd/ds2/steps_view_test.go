package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestStepsView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		v := startSteps(&out, "reset")
		time.Sleep(11 * time.Second)
		v.tell("delete new rows of orders")
		time.Sleep(20 * time.Second)
		v.stop()
		const want = "reset: 10s\nreset: delete new rows of orders for 9s, 20s in all\nreset: delete new rows of orders for 19s, 30s in all\n"
		if out.String() != want {
			t.Errorf("got\n%swant\n%s", out.String(), want)
		}
	})
}
