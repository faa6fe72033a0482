package main

import (
	"cmp"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ds2/internal/device"
	"ds2/internal/report"
	"ds2/internal/result"
)

// deviceFlags say which drive is measured, in a file or as a whole, and how long.
type deviceFlags struct {
	options     device.Options
	overwrite   string
	out, output string
	quiet       bool
}

func newDeviceCommand() *cobra.Command {
	var f deviceFlags
	cmd := newCommand("device", f.run)
	flags := cmd.Flags()
	declare(flags, "device", fields{
		"dir":          &f.options.Dir,
		"device":       &f.options.Device,
		"overwrite":    &f.overwrite,
		"file-size":    byteSize(&f.options.FileBytes),
		"stage-time":   &f.options.StageTime,
		"precondition": &f.options.Precondition,
		"round-time":   &f.options.RoundTime,
		"out":          &f.out,
		"output":       &f.output,
	})
	declare(flags, "shown", fields{"quiet": &f.quiet})
	return cmd
}

func (f *deviceFlags) run(cmd *cobra.Command, _ []string) error {
	o := &f.options
	switch {
	case o.Dir == "" && o.Device == "":
		return usageError("--dir is missing: a directory on the device to measure (or --device, which overwrites it)")
	// Naming the device twice is the only consent to lose what it holds: an environment variable or
	// a habit gives one of the two, not both.
	case o.Device != f.overwrite:
		return usageError("--overwrite is %q: to overwrite all of --device %q, give its name again",
			f.overwrite, o.Device)
	case o.FileBytes < 17e6 || o.FileBytes > 1e15:
		return usageError("--file-size is %s: it must be 17MB to 1PB", bytesText(o.FileBytes))
	}
	if info, err := os.Stat(o.Dir); o.Dir != "" && (err != nil || !info.IsDir()) {
		return usageError("--dir: there is no directory %s", o.Dir)
	}
	if _, err := os.Stat(o.Device); o.Device != "" && err != nil {
		return usageError("--device: there is no device %s", o.Device)
	}
	// Whole MiB, which all block sizes of the stages divide.
	o.FileBytes = o.FileBytes / (1 << 20) * (1 << 20)
	o.KitVersion = kitVersion()
	// In UTC, as all names of records, so that they sort by time wherever they come from.
	f.out = cmp.Or(f.out, "ds2-device-"+time.Now().UTC().Format("20060102T150405Z")+".json")
	if !f.quiet {
		o.Progress = func(what string, left time.Duration) {
			fmt.Fprintf(cmd.ErrOrStderr(), "device: %s; %s of measuring left\n", what,
				left.Round(time.Second))
		}
	}
	ctx, release := signal.NotifyContext(cmd.Context(), stopSignals()...)
	defer release()
	record, err := device.Run(ctx, *o)
	if err != nil {
		return interrupted(ctx, fmt.Errorf("device: %w", err),
			"device: interrupted; nothing was recorded")
	}
	if err := record.Save(f.out); err != nil {
		return fmt.Errorf("device: %w", err)
	}
	if f.output == "json" {
		return printJSON(cmd.OutOrStdout(), record)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "record in %s\n", f.out)
	one := report.Device{Name: filepath.Base(o.Dir), Device: record}
	return report.Devices([]report.Device{one}).Text(cmd.OutOrStdout(), true, 0)
}

// readDevices reads the device records that arguments name, FILE or NAME=FILE; none where the first
// is no file.
func readDevices(flags *pflag.FlagSet, arguments []string) (all []report.Device, err error) {
	for _, argument := range arguments {
		name, path := cutName(argument)
		name = cmp.Or(name, strings.TrimSuffix(filepath.Base(path), ".json"))
		info, err := os.Stat(path)
		if file := err == nil && info.Mode().IsRegular(); !file && all == nil {
			return nil, nil
		} else if !file {
			return nil, usageError(
				"%s is not a record of ds2 device, but %s is: compare devices with devices",
				path,
				all[0].Name,
			)
		}
		record, err := result.ReadDevice(path)
		if err != nil {
			return nil, usageError(
				"%v: name the directory of a record, or a file that ds2 device wrote",
				err,
			)
		}
		all = append(all, report.Device{Name: name, Device: record})
	}
	for _, name := range []string{"fail-if", "merge"} {
		if all != nil && flags.Changed(name) {
			return nil, usageError("--%s is for records of runs, and %s is one of a device", name,
				arguments[0])
		}
	}
	return all, nil
}
