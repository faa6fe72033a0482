package conclude

import (
	"ds2/internal/device"
	"ds2/internal/diagnose"
	"ds2/internal/monitor"
	"ds2/internal/result"
)

// addDevices adds how near the devices were to their limit in the window: by what was measured of them before, if anything
// was, and by the queue and the time of reads against the same run's best seconds.
func (v view) addDevices(f *diagnose.Figures) {
	t, from, to, measured := v.Counters, v.from, v.to, v.Device
	reads, took := 0.0, 0.0
	for _, column := range t.Items(monitor.DiskReads) {
		_, item := monitor.SplitColumn(column)
		times := monitor.ItemColumn(monitor.DiskReadTime, item)
		took += product(t, column, times, from, to)
		if rate := known(t.Mean(column, from, to)); rate != nil {
			reads += *rate
		}
		queue := known(t.Mean(monitor.ItemColumn(monitor.DiskQueue, item), from, to))
		if queue == nil || f.DiskQueue != nil && *queue < *f.DiskQueue {
			continue
		}
		f.DiskQueue, f.DiskSlowdown = queue, nil
		if best := t.Quantile(times, 0.05, v.Start, v.End); best > 0 { // a few seconds may have no more than a read from its cache
			f.DiskSlowdown = known(t.Mean(times, from, to) / best)
		}
	}
	if measured == nil {
		return
	}
	if t.Items(monitor.DiskReads) != nil {
		f.DeviceReads = new(0.0)
		if reads > 0 && took > 0 {
			f.DeviceReads = new(reads / measured.ReadsAt(took/reads))
		}
	}
	if syncs := total(t, monitor.DatabaseLogSyncs, from, to); syncs != nil {
		f.DeviceLog = new(*syncs / measured.Log.IOPS)
	}
}

// deviceLimits are what the devices were measured to do by themselves, next to which a run's own requests are read.
func deviceLimits(measured *device.Record) []result.Condition {
	if measured == nil {
		return nil
	}
	return []result.Condition{
		{Name: result.LimitOfReads, Value: measured.MaxReads(), Unit: "a second"},
		{Name: result.LimitOfLogWrites, Value: measured.Log.IOPS, Unit: "a second"},
	}
}
