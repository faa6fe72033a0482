package report

import (
	"ds2/internal/diagnose"
	"ds2/internal/result"
)

// cost is one of those of a cycle, and what it is shown in.
type cost struct {
	name, title, unit string
	scale             float64
	of                func(*diagnose.Costs) *float64
}

var costs = []cost{
	{"device_reads_per_order", "device reads", "", 1, func(c *diagnose.Costs) *float64 { return c.Reads }},
	{"device_writes_per_order", "device writes", "", 1, func(c *diagnose.Costs) *float64 { return c.Writes }},
	{"device_read_bytes_per_order", "bytes read from devices", "kB", 1e-3, func(c *diagnose.Costs) *float64 { return c.ReadBytes }},
	{"device_written_bytes_per_order", "bytes written to devices", "kB", 1e-3, func(c *diagnose.Costs) *float64 { return c.WrittenBytes }},
	{"log_bytes_per_order", "bytes of the database log", "kB", 1e-3, func(c *diagnose.Costs) *float64 { return c.LogBytes }},
	{"device_seconds_per_order", "time of the devices", "ms", 1e3, func(c *diagnose.Costs) *float64 { return c.DeviceSeconds }},
	{"server_cpu_seconds_per_order", "processors of the database", "ms", 1e3, func(c *diagnose.Costs) *float64 { return c.ServerCPU }},
	{"client_cpu_seconds_per_order", "processors of ds2", "ms", 1e3, func(c *diagnose.Costs) *float64 { return c.ClientCPU }},
	{"joules_per_order", "energy", "J", 1, func(c *diagnose.Costs) *float64 { return c.Joules }},
}

// costTable is what a cycle took; without rows where nothing was measured.
func costTable(c *diagnose.Costs, words result.Words) table {
	t := table{Caption: "What " + words.A() + " costs, on average over the first window", Head: []string{"what", "unit", words.A()}}
	if c == nil {
		return t
	}
	for _, cost := range costs {
		if v := cost.of(c); v != nil {
			t.Rows = append(t.Rows, []string{cost.title, cost.unit, figure(*v * cost.scale)})
		}
	}
	return t
}

// costFigures are the costs as figures that are compared.
func costFigures() (all []compared) {
	for _, cost := range costs {
		of := func(r result.BenchRun) *float64 {
			if r.Costs == nil {
				return nil
			}
			return cost.of(r.Costs)
		}
		all = append(all, compared{cost.name, cost.title, cost.unit, cost.scale, of, ""})
	}
	return all
}
