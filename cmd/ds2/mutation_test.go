package main

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"ds2/datagen"
	"ds2/internal/limit"
	"ds2/internal/measure"
	"ds2/internal/store"
)

// TestMutations gives each small parser many more inputs than fuzzing with coverage comes to in the same time: changed and joined
// examples. DS2_TEST_INPUTS says how many, DS2_TEST_SEED which.
func TestMutations(t *testing.T) {
	inputs, err := strconv.Atoi(os.Getenv("DS2_TEST_INPUTS"))
	if err != nil {
		inputs = 20_000
	}
	seed, _ := strconv.ParseUint(os.Getenv("DS2_TEST_SEED"), 10, 64)
	for name, p := range map[string]struct {
		parse    func(string)
		examples []string
	}{
		"sizes":       {func(s string) { datagen.ParseSize(s) }, []string{"S", "30MB", "80GB", "1.5TB", "9223372036854775807GB", "1e300MB"}},
		"rates":       {func(s string) { new(rateValue).Set(s) }, []string{"500/s", "30000/m", "NaN", "1e400/min", "-0"}},
		"bytes":       {func(s string) { new(byteSize).Set(s) }, []string{"500MB", "2GB", "9e99TB", "0x10"}},
		"durations":   {func(s string) { (durationValue{new(time.Duration), time.Minute}).Set(s) }, []string{"20", "90s", "1.5", "1h2m3s", "1e300", "Inf"}},
		"config file": {func(s string) { configLine(s) }, []string{"n_threads=32", "--run_time = 20", "# x", "a=b=c", "target=postgres://a:b@c/d"}},
		"limits":      {func(s string) { limit.Parse(s) }, []string{"order p95 < 200ms", "errors < 1%", "device sda write mean < 10ms for 5m", "iops > 100"}},
		"gates":       {func(s string) { limit.ParseGate(s) }, []string{"opm < -5%", "order p95 > +10%", "opm < 100000"}},
		"windows":     {func(s string) { measure.ParseWindow(s) }, []string{"1000s-1200s", "auto", "steady=auto", "checkpoints=2", "a=1h-2h"}},
		"holders":     {func(s string) { store.ParseHolder(s) }, []string{"ds2 bench 4711 20261121T041500Z host", "ds2 x -1 0 h"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 10))
			var text []byte
			for range inputs {
				text = mutate(random, text[:0], p.examples)
				func() {
					defer func() {
						if r := recover(); r != nil {
							t.Fatalf("%q: %v", text, r)
						}
					}()
					p.parse(string(text))
				}()
			}
		})
	}
}

// mutate joins one or two examples and changes up to four bytes.
func mutate(random *rand.Rand, to []byte, examples []string) []byte {
	const alphabet = "0123456789.-+eE%=<>/: \t\n\x00\x1b\xff\"'\\()[]{}smhdMGTpPnaif∞é"
	to = append(to, examples[random.IntN(len(examples))]...)
	if random.IntN(4) == 0 {
		to = append(to[:random.IntN(len(to)+1)], examples[random.IntN(len(examples))]...)
	}
	for range random.IntN(5) {
		at := random.IntN(len(to) + 1)
		b := alphabet[random.IntN(len(alphabet))]
		switch {
		case random.IntN(3) == 0 && at < len(to):
			to[at] = b
		case random.IntN(2) == 0 && at < len(to):
			to = append(to[:at], to[at+1:]...)
		default:
			to = append(to, 0)
			copy(to[at+1:], to[at:])
			to[at] = b
		}
	}
	return to
}
