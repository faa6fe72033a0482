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
	deviceRecord string
	device       *device.Record // from deviceRecord; nil: none
}

func (f *observeFlags) add(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.Devices, "devices", nil, "block devices to observe, such as nvme0n1,sda; data=nvme1n1,log=nvme2n1 also says what is on them (default: those under the database's files, if the server is on this machine)")
	flags.StringVar(&f.deviceRecord, "device-record", "", "record of ds2 device for the drives under test: the report then has the run's share of their limit")
	flags.Var(oneOf(&f.SMART, monitor.SMARTAuto, monitor.SMARTOn, monitor.SMARTOff), "smart", "read the drives' SMART before and after a run, by smartctl: bytes written, write amplification, wear, heat; on also reports what cannot be read")
	flags.BoolVar(&f.IOTrace, "io-trace", false, "time every I/O of the database's drives by purpose, such as log flushes, with eBPF; needs the database's machine, Linux and root")
	flags.Bool("io-events", false, "SQL Server: time each I/O of the database's files by Extended Events (experimental)")
	flags.Var(byteSize(&f.ServerMemory), "server-memory", "memory that the database server may use, such as 8GB (default: that of its machine or container, if known)")
	flags.StringArrayVar(&f.Exporters, "exporter", nil, "URL of the database machine's node_exporter or windows_exporter, such as http://db1:9100/metrics, read each second; may be repeated, for several targets")
	flags.Var(powerValue{&f.Options}, "power", "where watts come from: a command that prints them, such as 'ipmitool dcmi power reading', "+
		"run at most once a second; or log:FILE, a meter's times and watts, separated by commas")
}

// check refuses what cannot be observed whatever the server, and reads what was measured of the drives before.
func (f *observeFlags) check() (err error) {
	if f.device, err = loadDevice(f.deviceRecord); err != nil {
		return err
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

// powerValue is --power.
type powerValue struct{ options *monitor.Options }

func (v powerValue) Type() string { return "source" }

func (v powerValue) String() string {
	switch o := v.options; {
	case o == nil:
		return ""
	case o.PowerLog != "":
		return "log:" + o.PowerLog
	default:
		return o.PowerCommand
	}
}

func (v powerValue) Set(text string) error {
	o := v.options
	o.PowerCommand, o.PowerLog = "", ""
	if file, is := strings.CutPrefix(text, "log:"); is {
		o.PowerLog = file
	} else {
		o.PowerCommand = text
	}
	return nil
}
