package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"ds2/internal/monitor"
	"ds2/internal/result"
)

// addDrives adds the flags that say which drives are observed.
func addDrives(flags *pflag.FlagSet, o *monitor.Options) {
	declare(flags, "observe", fields{
		"devices":  (*listed)(&o.Devices),
		"exporter": &o.Exporters,
	})
}

// optionError is what a user reads of an option that cannot be followed.
func optionError(option *monitor.OptionError) error {
	if option.Field == "devices" {
		return flagError(option.Field, option.Unwrap())
	}
	return fmt.Errorf("--%s: %w", option.Field, option.Unwrap()) // it does not answer
}

// observeFlags say what is observed beside the orders.
type observeFlags struct {
	monitor.Options
	deviceRecord string
	device       *result.Device // from deviceRecord; nil: none
}

func (f *observeFlags) add(flags *pflag.FlagSet) {
	addDrives(flags, &f.Options)
	power := func(text string) (string, error) {
		f.PowerCommand = text
		f.PowerLog = ""
		if file, isLog := strings.CutPrefix(text, "log:"); isLog {
			f.PowerCommand = ""
			f.PowerLog = file
		}
		return text, nil
	}
	declare(flags, "observe", fields{
		"device-record": &f.deviceRecord,
		"smart":         &f.SMART,
		"io-trace":      &f.IOTrace,
		"server-memory": byteSize(&f.ServerMemory),
		"power":         parsed[string]{new(string), "source", power, same, ""},
	})
}

// check refuses what cannot be observed whatever the server, and reads what was measured of the
// drives before.
func (f *observeFlags) check() (err error) {
	if f.deviceRecord != "" {
		if f.device, err = result.ReadDevice(f.deviceRecord); err != nil {
			return flagError("device-record", err)
		}
	}
	if wrong, ok := errors.AsType[*monitor.OptionError](f.Check()); ok {
		return flagError(wrong.Field, wrong)
	}
	for _, url := range f.Exporters {
		if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
			return usageError("--exporter: %q is not a URL: write it as http://host:9100/metrics",
				url)
		}
	}
	return nil
}
