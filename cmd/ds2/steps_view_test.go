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
		v.tell("delete new rows of orders", 0, -1)
		time.Sleep(15 * time.Second)
		v.tell("vacuum orders", 0.4, time.Minute)
		time.Sleep(15 * time.Second)
		v.stop()
		const want = "reset: 10s\nreset: delete new rows of orders for 9s, 20s in all\nreset: vacuum orders for 4s, 30s in all; 40 %, about 56s left\n" +
			"reset: vacuum orders for 14s, 40s in all; 40 %, about 46s left\n"
		if out.String() != want {
			t.Errorf("got\n%swant\n%s", out.String(), want)
		}
	})
}
