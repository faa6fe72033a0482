package report

import (
	"fmt"
	"slices"

	"ds2/internal/compare"
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
		Figures: fill("figures of devices", all),
		Tables:  []table{fill("depths", all)},
	}
	v.Byline = byline(first.Start, first.Path, first.KitVersion, "fio "+first.Fio)
	v.Headline = "random reads: " + first.Conclusion()
	if len(all) > 1 {
		v.Title = "Devices against " + first.Name
		// The fastest of the others is what the headline is about.
		last := slices.MaxFunc(all[1:], func(a, b Device) int {
			return int(a.MaxReads() - b.MaxReads())
		})
		d := compare.Between(first.MaxReads(), last.MaxReads())
		v.Headline = fmt.Sprintf("%s does %s the random reads of %s", last.Name,
			d.FactorText(d.Percent), first.Name)
		v.addFinding(result.Reserves, "Each was measured once, so how much that varies is unknown")
	}
	for _, d := range all {
		if len(all) > 1 {
			v.because(sentence(d.Name + ": " + d.Conclusion()))
		}
		v.note(say("preconditioning", d))
		if p := d.Preconditioning; p != nil && !p.Steady {
			v.addFinding(result.Withholds, "%s was not steady after preconditioning", d.Name)
		}
	}
	if len(all) > mostColumns {
		v.Figures = v.Figures.transpose()
	}
	v.draw = func() ([]chart, error) {
		c := deviceChart(v.ID, all)
		c.Place = picture
		return []chart{c}, nil
	}
	return Page{title: "ds2 device", views: []view{v}}
}
