package main

import (
	"strings"

	"github.com/spf13/pflag"

	"ds2/internal/device"
	"ds2/internal/monitor"
)

// observeFlags say what is observed beside the orders.
type observeFlags struct {
	monitor.Options
	power        string // as it was given
	deviceRecord string
	device       *device.Record // from deviceRecord; nil: none
}

func (f *observeFlags) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.Devices, "devices", nil, flagsTxt)
	flags.StringVar(&f.deviceRecord, "device-record", "", flagsTxt)
	flags.Var(oneOf(&f.SMART, monitor.SMARTAuto, monitor.SMARTOn, monitor.SMARTOff), "smart", flagsTxt)
	flags.BoolVar(&f.IOTrace, "io-trace", false, flagsTxt)
	flags.Bool("io-events", false, flagsTxt)
	flags.Var(byteSize(&f.ServerMemory), "server-memory", flagsTxt)
	flags.StringArrayVar(&f.Exporters, "exporter", nil, flagsTxt)
	power := func(text string) (string, error) {
		f.PowerCommand, f.PowerLog = text, ""
		if file, isLog := strings.CutPrefix(text, "log:"); isLog {
			f.PowerCommand, f.PowerLog = "", file
		}
		return text, nil
	}
	flags.Var(parsed[string]{&f.power, "source", power, same, ""}, "power", flagsTxt)
}

// check refuses what cannot be observed whatever the server, and reads what was measured of the drives before.
func (f *observeFlags) check() (err error) {
	if f.deviceRecord != "" {
		if f.device, err = device.Read(f.deviceRecord); err != nil {
			return flagError("device-record", err)
		}
	}
	if err := f.CheckMeterLog(); err != nil {
		return flagError("power", err)
	}
	for _, url := range f.Exporters {
		if !strings.HasPrefix(url, "http://") && !strings.HasPrefix(url, "https://") {
			return usageError("--exporter: %q is not a URL: write it as http://host:9100/metrics", url)
		}
	}
	return nil
}
