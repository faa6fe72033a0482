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
	flags.StringSliceVar(
		&o.Devices,
		"devices",
		nil,
		"block devices to observe, such as nvme0n1,sda; "+
			"data=nvme1n1,log=nvme2n1 also says what is on them (default: those under the database's files, if the "+
			"server is on this machine)",
	)
	flags.StringArrayVar(
		&o.Exporters,
		"exporter",
		nil,
		"URL of the database machine's node_exporter or "+
			"windows_exporter, such as http://db1:9100/metrics, read each second; may be repeated, for several targets",
	)
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
	flags.StringVar(
		&f.deviceRecord,
		"device-record",
		"",
		"record of ds2 device for the drives under test: the "+
			"report then has the run's share of their limit",
	)
	flags.Var(
		oneOf(&f.SMART, monitor.SMARTAuto, monitor.SMARTOn, monitor.SMARTOff),
		"smart",
		"read the drives' "+
			"SMART before and after a run, by smartctl: bytes written, wear, heat; "+
			"on also reports what cannot be read",
	)
	flags.BoolVar(
		&f.IOTrace,
		"io-trace",
		false,
		"time every I/O of the database's drives by purpose, such as log "+
			"flushes, with eBPF; needs the database's machine, Linux and root",
	)
	flags.Var(
		byteSize(&f.ServerMemory),
		"server-memory",
		"memory that the database server may use, such as 8GB "+
			"(default: that of its machine or container, if known)",
	)
	power := func(text string) (string, error) {
		f.PowerCommand = text
		f.PowerLog = ""
		if file, isLog := strings.CutPrefix(text, "log:"); isLog {
			f.PowerCommand = ""
			f.PowerLog = file
		}
		return text, nil
	}
	flags.Var(
		parsed[string]{new(string), "source", power, same, ""},
		"power",
		"where watts come from: a command that "+
			"prints them, such as 'ipmitool dcmi power reading', run at most once a second; or log:FILE, which a "+
			"meter or its logger writes: times and watts",
	)
	under(flags, ofObserving, "devices", "exporter", "power")
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
