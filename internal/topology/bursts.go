package topology

import (
	"cmp"
	_ "embed" // bursts.tsv
	"fmt"
	"regexp"
	"time"

	"ds2/internal/datatable"
)

// Burst is that a drive or a machine of a cloud is faster for a time than it can stay.
type Burst struct {
	Of    string        // the drive, or the machine
	Lasts time.Duration // from full credits on
	Text  string        // what is faster, and who says so
}

const (
	azure = "Microsoft Azure"
	// azureTag marks Azure's machines among those of Hyper-V.
	azureTag = "7783-7084-3265-9085-8269-3286-77"
)

//go:embed bursts.tsv
var burstRules string

// gp2Lasts is how long 5.4 million credits last at 3,000 I/Os a second, while 3 come back a second
// for each GiB, and 100 at least.
func gp2Lasts(gib float64) time.Duration {
	const credits = 5.4e6
	return time.Duration(credits / (3000 - max(100, 3*gib)) * float64(time.Second))
}

// Bursts are those of a machine and of its drives, as far as these are known to a cloud.
func (m *Machine) Bursts() (all []Burst) {
	for _, rule := range datatable.Rows(burstRules, 7) {
		matches := func(pattern, name string) bool {
			found, _ := regexp.MatchString(pattern, name)
			return rule[0] == m.Vendor && pattern != "" && found
		}
		add := func(of string, lasts time.Duration) {
			text := fmt.Sprintf("for up to %.0f minutes, as %s (%s, November 2026)",
				lasts.Round(time.Minute).Minutes(), rule[5], rule[6])
			all = append(all, Burst{of, lasts, text})
		}
		lasts := time.Duration(parseNumber(rule[4])) * time.Minute
		if matches(rule[1], m.Product) {
			add(m.Product, lasts)
		}
		for _, d := range m.Drives {
			gib := float64(d.Bytes) / (1 << 30)
			if matches(rule[2], d.Model) && gib < parseNumber(rule[3]) {
				add(d.Name, cmp.Or(lasts, gp2Lasts(gib)))
			}
		}
	}
	return all
}

// Cloud is the vendor of a machine, by what its firmware says of it.
func Cloud(vendor, tag string) string {
	if tag == azureTag {
		return azure
	}
	return vendor
}
