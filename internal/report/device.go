package report

import (
	"fmt"
	"slices"

	"ds2/internal/compare"
	"ds2/internal/numbers"
	"ds2/internal/result"
)

// Device is the record of a device, and what it goes by.
type Device struct {
	Name string `json:"name"`
	*result.Device
	runs []result.BenchRun // on it
}

// Devices is what there is to read of devices: what they do by themselves, each against the first.
func Devices(all []Device) Page {
	first := all[0]
	v := view{
		ID:      "device",
		RunID:   first.Name,
		Title:   "Device " + first.Name,
		Figures: newTable("", "figure"),
	}
	v.Byline = byline(first.Start, first.Path, first.KitVersion, "fio "+first.Fio)
	depths := newTable(
		"By depth",
		"device",
		"8 kB",
		"depth",
		"a second",
		"mean ms",
		"p50 ms",
		"p95 ms",
		"p99 ms",
	)
	v.Headline = "random reads: " + first.Conclusion()
	if len(all) > 1 {
		v.Title = "Devices against " + first.Name
		last := slices.MaxFunc(all[1:], func(a, b Device) int {
			return int(a.MaxReads() - b.MaxReads())
		})
		d := compare.Between(first.MaxReads(), last.MaxReads())
		v.Headline = fmt.Sprintf(
			"%s does %s the random reads of %s",
			last.Name,
			d.FactorText(d.Percent),
			first.Name,
		)
		v.find(result.Reserves, "Each was measured once, so how much that varies is unknown")
	}
	for _, d := range all {
		v.Figures.Head = append(v.Figures.Head, d.Name)
		if len(all) > 1 {
			v.because(sentence(d.Name + ": " + d.Conclusion()))
		}
		if p := d.Preconditioning; p != nil && len(p.Rounds) > 0 && len(p.Sequential) > 1 {
			rounds := len(p.Rounds)
			v.note(
				fmt.Sprintf("%s was written through twice, at %s and %s MB/s, and then at random "+
					"in %d rounds, the last at %.0f writes a second", d.Name, megabytes(int64(p.Sequential[0])),
					megabytes(int64(p.Sequential[1])), rounds, p.Rounds[rounds-1]),
			)
		}
		if p := d.Preconditioning; p != nil && !p.Steady {
			v.find(result.Withholds, "%s was not steady after preconditioning", d.Name)
		}
		stage := func(what string, points ...result.DevicePoint) {
			for _, p := range points {
				depths.row(
					d.Name,
					what,
					fmt.Sprint(p.Depth),
					figure(p.IOPS),
					numbers.Decimals(1e3*p.Mean, 3),
					numbers.Decimals(1e3*p.P50, 3),
					numbers.Decimals(1e3*p.P95, 3),
					numbers.Decimals(1e3*p.P99, 3),
				)
			}
		}
		stage("random reads", d.Reads...)
		stage("70 % reads", d.Mixed...)
		stage("log writes", d.Log)
	}
	v.Tables = []table{depths}
	if len(all) == 2 {
		v.Figures.Head = append(v.Figures.Head, "difference")
	}
	for _, f := range []struct {
		name string
		of   func(*result.Device) float64
	}{
		{"most random reads a second", (*result.Device).MaxReads},
		{"a read at depth 1, ms", func(r *result.Device) float64 { return 1e3 * r.Reads[0].Mean }},
		{"log writes a second", func(r *result.Device) float64 { return r.Log.IOPS }},
		{"a log write, ms", func(r *result.Device) float64 { return 1e3 * r.Log.Mean }},
		{"sequential writes, MB/s", func(r *result.Device) float64 {
			return 1e-6 * r.SequentialWrite
		}},
	} {
		row := cells(f.name, all, func(d Device) string { return figure(f.of(d.Device)) })
		if len(all) == 2 {
			d := compare.Between(f.of(first.Device), f.of(all[1].Device))
			row = append(row, d.PercentText(d.Percent))
		}
		v.Figures.row(row...)
	}
	if len(all) > mostColumns {
		v.Figures = v.Figures.turned()
	}
	v.draw = func() ([]chart, error) {
		c := deviceChart(v.ID, all)
		c.Place = picture
		return []chart{c}, nil
	}
	return Page{title: "ds2 device", views: []view{v}}
}
