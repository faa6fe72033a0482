package main

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/fuzztest"
)

// FuzzDriveFlags gives a run's flags what nobody would.
func FuzzDriveFlags(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, line string) {
		words := strings.Fields(line)
		for _, word := range words {
			// It would open a file of any name.
			if name := strings.ReplaceAll(word, "_", "-"); strings.Contains(name, "config") {
				return
			}
		}
		flags, set := driveFlagSet()
		set.SetOutput(io.Discard)
		if set.Parse(words) != nil {
			return
		}
		if flags.check() != nil {
			return
		}
		flags.parseWindows(flags.Length())
		flags.parseLimits()
	}, "--threads=32 --run_time=20", "--n_threads 4 --db_size_str=W", "--window=1000s-1200s --limit=order:p95<200ms",
		"--target=postgres://a:b@c/d",
		"--rate=500/s --spacing=even", "--think_time 5e9 --user-offset -1")
}

func FuzzRate(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		v, err := readOrderRate(text)
		assert.True(t, err != nil || v > 0 && v <= 1e6, "%q is %g a second", text, v)
	}, "500/s", "30000/m", "1", "NaN", "1e400", "-3/s", "1/min", "0/s", "NaN/s", "Inf/s", "x/s", "")
}

func FuzzByteSize(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		b, err := readByteSize(text)
		assert.True(t, err != nil || b > 0, "%q is %d bytes", text, b)
	}, "500MB", "2GB", "1e30GB", "-1", "0x10", "9223372036854775807")
}

// FuzzRedact hides a password in a URL amid any text.
func FuzzRedact(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		if strings.Contains(text, "hunter2") {
			return // it is no secret then
		}
		half := len(text) / 2
		assert.NotContains(t, redact(text[:half]+" postgres://user:hunter2@host"+text[half:]), "hunter2")
	}, "load:/ds2: no such host", "host=a password=b", "user:x@host;", "password='a b' user=c")
}
