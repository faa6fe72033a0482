package report

import (
	"fmt"

	"ds2/internal/monitor"
)

// smartTable is what the drives told of themselves before and after the run; without rows where none did.
func smartTable(drives []monitor.SMART) table {
	t := table{Caption: "What the drives tell of themselves (SMART), over the whole run",
		Head: []string{"drive", "written to it MB", "written to its flash MB", "write amplification", "°C before", "°C after", "wear %", "held back by heat"}}
	scaled := func(v *float64, scale float64) string {
		if v == nil {
			return "–"
		}
		return figure(*v * scale)
	}
	for _, d := range drives {
		name := d.Drive
		if d.Model != "" {
			name = fmt.Sprintf("%s, %s", d.Drive, d.Model)
		}
		throttled := d.Throttled
		if throttled == "" && (d.After.Throttles != nil || d.After.HotMinutes != nil) {
			throttled = "no"
		}
		t.Rows = append(t.Rows, []string{name, scaled(d.HostBytes, 1e-6), scaled(d.MediaBytes, 1e-6), scaled(d.Amplification, 1),
			scaled(d.Before.Temperature, 1), scaled(d.After.Temperature, 1), scaled(d.After.Wear, 100), throttled})
	}
	return t
}
