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
	flags.Var(byteSize(&f.ServerMemory), "server-memory", "memory that the database server may use, such as 8GB (default: that of its machine or container, if known)")
	flags.StringArrayVar(&f.Exporters, "exporter", nil, "URL of the database machine's node_exporter or windows_exporter, such as http://db1:9100/metrics, read each second; may be repeated, for several targets")
	flags.StringVar(&f.Prometheus, "prometheus", "", "URL of the Prometheus that scrapes the database machine's node_exporter; queried after the run")
	flags.StringVar(&f.Instance, "prometheus-instance", "", "the node_exporter's instance in Prometheus, with or without port (default: the target's host)")
	flags.Var(powerValue{&f.Options}, "power", "where watts come from: a command that prints them, such as 'ipmitool dcmi power reading', "+
		"run at most once a second; log:FILE, a meter's times and watts, separated by commas; or query:EXPRESSION, which --prometheus answers")
}

// check refuses what cannot be observed whatever the server, and reads what was measured of the drives before.
func (f *observeFlags) check() (err error) {
	if f.device, err = loadDevice(f.deviceRecord); err != nil {
		return err
	}
	if len(f.Exporters) > 0 && f.Prometheus != "" {
		return usageError("--exporter: the counters of a machine come from its exporter or from a Prometheus, not from both; leave out --prometheus")
	}
	for _, given := range []struct{ flag, url string }{{"prometheus", f.Prometheus}, {"exporter", strings.Join(f.Exporters, "")}} {
		if given.url != "" && !strings.HasPrefix(given.url, "http://") && !strings.HasPrefix(given.url, "https://") {
			return usageError("--%s: %q is not a URL: write it as http://host:9100/metrics, and a Prometheus as http://host:9090", given.flag, given.url)
		}
	}
	if f.Prometheus == "" && f.PowerQuery != "" {
		return usageError("--power: give the URL of the Prometheus that holds it by --prometheus")
	}
	if f.Instance != "" && f.Prometheus == "" {
		return usageError("--prometheus-instance: give the URL of the Prometheus that observes %s besides, by --prometheus", f.Instance)
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
	case o.PowerQuery != "":
		return "query:" + o.PowerQuery
	default:
		return o.PowerCommand
	}
}

func (v powerValue) Set(text string) error {
	o := v.options
	o.PowerCommand, o.PowerLog, o.PowerQuery = "", "", ""
	if file, is := strings.CutPrefix(text, "log:"); is {
		o.PowerLog = file
	} else if expression, is := strings.CutPrefix(text, "query:"); is {
		o.PowerQuery = expression
	} else {
		o.PowerCommand = text
	}
	return nil
}
