package diagnose

// Costs is what one order took, on average over a window. A cost that was not measured is nil.
type Costs struct {
	Reads         *float64 `json:"device_reads,omitempty"` // of all devices under the databases
	Writes        *float64 `json:"device_writes,omitempty"`
	ReadBytes     *float64 `json:"device_read_bytes,omitempty"`
	WrittenBytes  *float64 `json:"device_written_bytes,omitempty"`
	DeviceSeconds *float64 `json:"device_seconds,omitempty"` // sum of the times that reads and writes took
	LogBytes      *float64 `json:"log_bytes,omitempty"`
	ServerCPU     *float64 `json:"server_cpu_seconds,omitempty"` // of the server's processes; where those cannot be seen, of its machine less ds2
	ClientCPU     *float64 `json:"client_cpu_seconds,omitempty"` // of ds2 itself
	Joules        *float64 `json:"joules,omitempty"`
}

// Per divides costs a second by the orders a second; nil where there were no orders or nothing was measured.
func (c Costs) Per(orders float64) *Costs {
	if orders <= 0 || c == (Costs{}) {
		return nil
	}
	for _, cost := range []**float64{&c.Reads, &c.Writes, &c.ReadBytes, &c.WrittenBytes, &c.DeviceSeconds, &c.LogBytes, &c.ServerCPU, &c.ClientCPU, &c.Joules} {
		if *cost != nil {
			*cost = new(**cost / orders)
		}
	}
	return &c
}
