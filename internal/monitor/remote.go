package monitor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// remote looks at Prometheus, so that a wrong URL shows before the run.
func (w *Observer) remote(ctx context.Context) error {
	if w.o.Prometheus == "" {
		if w.o.PowerQuery != "" {
			return &OptionError{"power", errors.New("give the URL of the Prometheus that holds it")}
		}
		return nil
	}
	if w.o.Instance == "" {
		w.o.Instance = HostOf(w.targets[0].Label())
	}
	var err error
	if w.prometheus, err = NewPrometheus(w.o.Prometheus); err != nil {
		return &OptionError{"prometheus", err}
	}
	found, err := w.prometheus.find(ctx, w.o.Instance, time.Now())
	if err != nil {
		return &OptionError{"prometheus", err}
	}
	if found.kind == nil {
		w.note("Prometheus holds nothing yet of an exporter with instance %q", w.o.Instance)
		w.Machine = &Machine{}
		for _, name := range w.devices {
			w.Machine.Drives = append(w.Machine.Drives, Drive{Name: name, Roles: w.roles[name]})
		}
		return nil
	}
	machine := found.kind.machine(found.shown)
	machine.Drives = w.drives(found.kind, found.shown)
	w.Machine = &machine
	return nil
}

// power opens the power meter.
func (w *Observer) power(ctx context.Context) error {
	if w.o.PowerLog != "" {
		if _, err := os.Stat(w.o.PowerLog); err != nil {
			return &OptionError{"power", err}
		}
	}
	if w.o.PowerCommand != "" {
		src, err := PowerCommand(ctx, w.o.PowerCommand)
		if err != nil {
			return &OptionError{"power", err}
		}
		w.Sources = append(w.Sources, src)
	}
	return nil
}

// Fill puts into the samples of a run what becomes known after it: the series of Prometheus and of the power meter. It
// tells whether there was anything to ask, and can be called again when a meter's log has arrived later.
func (w *Observer) Fill(ctx context.Context, t *Table) (filled bool, err error) {
	if w.prometheus != nil {
		filled, err = true, w.prometheus.Fill(ctx, t, w.o.Instance, w.devices)
		if w.o.PowerQuery != "" {
			err = errors.Join(err, w.prometheus.FillPower(ctx, t, w.o.PowerQuery))
		}
	}
	if w.o.PowerLog == "" {
		return filled, err
	}
	file, openErr := os.Open(w.o.PowerLog)
	if openErr != nil {
		return filled, errors.Join(err, fmt.Errorf("read power log: %w", openErr))
	}
	defer file.Close()
	watts, logErr := ReadMeterLog(file, time.Local)
	if logErr != nil {
		return filled, errors.Join(err, fmt.Errorf("%s: %w", w.o.PowerLog, logErr))
	}
	t.Set(Power, watts)
	return true, err
}
