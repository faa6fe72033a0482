package monitor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"ds2/internal/outside"
	"ds2/internal/shell"
)

// staleAfter is how long a reading of power stands for the present when no newer one comes.
const staleAfter = 30 * time.Second

// PowerCommand takes watts from a command, run by the shell, that prints them: the number before W or Watts
// ("PSU1 Input Power: 312 Watts"), or the only one on its output. It is started again as soon as it has ended, at most once a second, and
// its last reading stands until the next, for at most 30 s: many meters take longer than a second to answer.
func PowerCommand(ctx context.Context, command string) (Source, error) {
	watts, err := runPowerCommand(ctx, command)
	if err != nil {
		return Source{}, err
	}
	var mu sync.Mutex
	var failure error
	at, running := time.Now(), false
	power := kind{"power_watts", "Electric power as the meter shows it.", Power, gauge(0)}
	return one("power by command", power, func(ctx context.Context) (float64, error) {
		mu.Lock()
		defer mu.Unlock()
		if !running {
			running = true
			go func() {
				w, err := runPowerCommand(ctx, command)
				mu.Lock()
				defer mu.Unlock()
				running = false
				if ctx.Err() != nil {
					return // cut off at the end of the sampling
				}
				if failure = err; err == nil {
					watts, at = w, time.Now()
				}
			}()
		}
		if time.Since(at) > staleAfter {
			return math.NaN(), failure
		}
		return watts, failure
	}), nil
}

var (
	number  = regexp.MustCompile(`\d[\d.,']*`) // with separators, which say nothing for sure
	plain   = regexp.MustCompile(`^\d+(\.\d+)?$`)
	inWatts = regexp.MustCompile(`(?i)(\d[\d.,']*)\s*(?:w|watts?)\b`)
)

// wattsIn reads the one number that is said to be watts or, where none is, the only number.
func wattsIn(output string) (float64, error) {
	var found []string
	for _, m := range inWatts.FindAllStringSubmatch(output, -1) {
		found = append(found, m[1])
	}
	if found == nil {
		found = number.FindAllString(output, -1)
	}
	output = strings.TrimSpace(output)
	switch {
	case len(found) == 0:
		return math.NaN(), fmt.Errorf("no number in its output %q", output)
	case len(found) > 1:
		return math.NaN(), fmt.Errorf("its output %q has several numbers, %s: have it print the watts alone",
			output, strings.Join(found, " and "))
	}
	digits := strings.TrimRight(found[0], ".,'") // of a sentence
	if !plain.MatchString(digits) {
		return math.NaN(), fmt.Errorf("its output %q has the number %s: have it print watts as 1234.5", output, digits)
	}
	return strconv.ParseFloat(digits, 64)
}

func runPowerCommand(ctx context.Context, command string) (float64, error) {
	ctx, cancel := outside.Within(ctx, outside.Command)
	defer cancel()
	var stdout, stderr bytes.Buffer
	if err := outside.Err(ctx, shell.Run(ctx, command, &stdout, &stderr)); err != nil {
		return math.NaN(), fmt.Errorf("run power command: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	watts, err := wattsIn(stdout.String())
	if err != nil {
		return watts, fmt.Errorf("run power command: %w", err)
	}
	return watts, nil
}

// Fill puts into the samples of a run what the meter's log says. It tells whether there is one, and can be called again
// when the log has arrived later.
func (w *Observer) Fill(t *Table) (filled bool, err error) {
	if w.o.PowerLog == "" {
		return false, nil
	}
	watts, err := w.o.meterLog()
	if err != nil {
		return false, err
	}
	t.Set(Power, watts)
	return true, nil
}

// CheckMeterLog refuses a meter's log that cannot be read. It may hold no reading yet.
func (o Options) CheckMeterLog() error {
	_, err := o.meterLog()
	if o.PowerLog == "" || errors.Is(err, errNoReading) {
		return nil
	}
	return err
}

func (o Options) meterLog() (Series, error) {
	text, err := os.ReadFile(o.PowerLog)
	if err != nil {
		return nil, err
	}
	readings, err := ReadMeterLog(text, time.Local)
	if err != nil {
		return nil, fmt.Errorf("read power log %s: %w", o.PowerLog, err)
	}
	return readings, nil
}
