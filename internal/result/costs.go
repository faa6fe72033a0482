package result

import (
	"reflect"
	"strings"
)

// Power is what a run took, in watts. A mean is absent where the meter gave nothing for its time.
type Power struct {
	// Idle is the mean of the idle time before the run, Active that of the first window
	// (WORKLOAD.md section 6).
	Idle   *float64 `json:"idle_w,omitempty"`
	Active *float64 `json:"active_w,omitempty"`
}

// PerWatt is a figure by active watts; nil where they are not known.
func (p *Power) PerWatt(figure float64) *float64 {
	if p == nil || p.Active == nil || *p.Active <= 0 {
		return nil
	}
	return new(figure / *p.Active)
}

// Costs is what one order took, on average over a window. A cost that was not measured is nil.
type Costs struct {
	Reads        *float64 `json:"device_reads,omitempty"` // of all devices under the databases
	Writes       *float64 `json:"device_writes,omitempty"`
	ReadBytes    *float64 `json:"device_read_bytes,omitempty"`
	WrittenBytes *float64 `json:"device_written_bytes,omitempty"`
	// sum of the times that reads and writes took
	DeviceSeconds *float64 `json:"device_seconds,omitempty"`
	LogBytes      *float64 `json:"log_bytes,omitempty"`
	// Of the server's processes; where those cannot be seen, of its machine less ds2.
	ServerCPU *float64 `json:"server_cpu_seconds,omitempty"`
	ClientCPU *float64 `json:"client_cpu_seconds,omitempty"` // of ds2 itself
	Joules    *float64 `json:"joules,omitempty"`
}

// Of is the cost that records have under a key; nil where it was not measured.
func (c Costs) Of(key string) *float64 {
	for field, cost := range reflect.ValueOf(c).Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name == key {
			return cost.Interface().(*float64)
		}
	}
	return nil
}

// Per divides costs a second by the orders a second; nil where there were no orders or nothing was
// measured.
func (c Costs) Per(orders float64) *Costs {
	if orders <= 0 || c == (Costs{}) {
		return nil
	}
	for _, cost := range reflect.ValueOf(&c).Elem().Fields() {
		if each := cost.Interface().(*float64); each != nil {
			cost.Set(reflect.ValueOf(new(*each / orders)))
		}
	}
	return &c
}
