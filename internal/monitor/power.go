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

// PowerCommand takes watts from a command, run by the shell, that prints them: the first number on its output counts
// ("Instantaneous power reading: 312 Watts"). It is started again as soon as it has ended, at most once a second, and
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

var number = regexp.MustCompile(`\d+(\.\d+)?`)

func runPowerCommand(ctx context.Context, command string) (float64, error) {
	ctx, cancel := outside.Within(ctx, outside.Command)
	defer cancel()
	var stdout, stderr bytes.Buffer
	if err := outside.Err(ctx, shell.Run(ctx, command, &stdout, &stderr)); err != nil {
		return math.NaN(), fmt.Errorf("run power command: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	if w, err := strconv.ParseFloat(number.FindString(stdout.String()), 64); err == nil {
		return w, nil
	}
	return math.NaN(), fmt.Errorf("run power command: no number in its output %q", strings.TrimSpace(stdout.String()))
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
