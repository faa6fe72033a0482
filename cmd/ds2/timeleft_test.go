package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
)

// timeLeftSize names the variable with the size for BenchmarkTimeLeft.
const timeLeftSize = "DS2_TIMELEFT_SIZE"

// BenchmarkTimeLeft runs the long commands on a PostgreSQL of its own, as large as DS2_TIMELEFT_SIZE says, and compares the time left
// that they show, four times a second, with the time that they then took: the share of the readings between a tenth of the work
// and its end that are within 30 %, or within the second that whole seconds cannot tell from it.
//
//	DS2_TIMELEFT_SIZE=1GB go test ./cmd/ds2 -run - -bench TimeLeft -benchtime 1x
func BenchmarkTimeLeft(b *testing.B) {
	size := cmp.Or(os.Getenv(timeLeftSize), "100MB")
	usual := progressEvery
	progressEvery = 250 * time.Millisecond
	b.Cleanup(func() { progressEvery = usual })
	server := pgtest.Start(b, localpg.Options{Settings: map[string]string{"shared_buffers": "1GB"}, Checksums: true})
	out := filepath.Join(b.TempDir(), "dataset")
	target := server.URL("ds2")
	drive := func(b *testing.B) {
		var stdout, stderr bytes.Buffer
		if exit := run(b.Context(), strings.Fields("drive --threads 8 --warmup-time 0 --run-time 20s --quiet --out "+b.TempDir()+" --target "+target), &stdout, &stderr); exit != 0 {
			b.Fatalf("drive: exit %d\n%s", exit, stderr.String())
		}
	}
	for _, c := range []struct {
		name, lines, command string
		before               func(*testing.B)
	}{
		{"generate", "generate:", "generate --size " + size + " --out " + out, nil},
		{"load", "load:", "load --size " + size + " --target " + target, nil},
		{"verify", "audit ", "verify --target " + target, drive},
		{"deep check", "read and check", "verify --deep --target " + target, nil},
		{"snapshot create", "snapshot:", "snapshot create --target " + target, nil},
		{"reset", "reset:", "reset --target " + target, drive},
		{"snapshot restore", "snapshot:", "snapshot restore --target " + target, drive},
	} {
		b.Run(c.name, func(b *testing.B) {
			if c.before != nil {
				c.before(b)
			}
			for b.Loop() {
				var stdout bytes.Buffer
				lines := &timedLines{begin: time.Now()}
				if exit := run(b.Context(), strings.Fields(c.command), &stdout, lines); exit != 0 {
					b.Fatalf("exit %d: %s", exit, lines)
				}
				b.ReportMetric(lines.judge(b, c.lines), "%within")
			}
			if c.name == "generate" {
				os.RemoveAll(out)
			}
		})
	}
}

// timedLines are lines with the times at which they were written.
type timedLines struct {
	begin time.Time
	at    []time.Duration
	lines []string
}

func (l *timedLines) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		l.at, l.lines = append(l.at, time.Since(l.begin)), append(l.lines, strings.TrimSpace(line))
	}
	return len(p), nil
}

func (l *timedLines) String() string {
	var s strings.Builder
	for i, line := range l.lines {
		fmt.Fprintf(&s, "%7.2f %s\n", l.at[i].Seconds(), line)
	}
	return s.String()
}

var leftIn = regexp.MustCompile(`(\S+) left$`)

// judge is the share of readings within 30 %, in per cent, of the lines with a prefix, which follow each other. The work ends with
// the next line after them, or now.
func (l *timedLines) judge(b *testing.B, prefix string) float64 {
	var from, to time.Duration
	end := time.Since(l.begin)
	var at, left []time.Duration
	for i, line := range l.lines {
		if !strings.HasPrefix(line, prefix) {
			if len(at) == 0 {
				from = l.at[i]
			} else if to == 0 {
				to = l.at[i]
			}
			continue
		}
		d := time.Duration(-1)
		if found := leftIn.FindStringSubmatch(line); found != nil {
			d, _ = time.ParseDuration(found[1])
		}
		at, left = append(at, l.at[i]), append(left, d)
	}
	to = cmp.Or(to, end)
	within, all := 0, 0
	for i := range at {
		if at[i] < from+(to-from)/10 {
			continue
		}
		all++
		want := to - at[i]
		if off := (left[i] - want).Abs(); left[i] >= 0 && (off <= 3*want/10 || off <= time.Second) {
			within++
		}
	}
	if testing.Verbose() {
		b.Logf("%s of %s\n%s", to-from, end, l)
	}
	return 100 * float64(within) / float64(max(all, 1))
}
