package topology

import (
	"cmp"
	"fmt"
	"regexp"
	"time"
)

// Burst is that a drive or a machine of a cloud is faster for a time than it can stay.
type Burst struct {
	Of    string        // the drive, or the machine
	Lasts time.Duration // from full credits on
	Text  string        // what is faster, and who says so
}

const (
	amazon = "Amazon EC2"
	azure  = "Microsoft Azure"
	// azureTag marks Azure's machines among those of Hyper-V.
	azureTag = "7783-7084-3265-9085-8269-3286-77"
)

// burstRules are what the clouds say of their machines and drives, as their pages were in November
// 2026. Google says of none of its disks that it bursts.
var burstRules = []struct {
	vendor         string
	product, model *regexp.Regexp // of the machine, or of a drive
	below          float64        // GiB; larger drives do not burst
	lasts          time.Duration  // 0: gp2Lasts
	text, source   string
}{
	{
		vendor:  amazon,
		product: regexp.MustCompile(`^t\d`),
		lasts:   24 * time.Hour,
		text: "its CPUs fall to their base rate when their credits are spent, of which it " +
			"saves a day's at most, unless it is an unlimited one",
		source: "docs.aws.amazon.com/AWSEC2/latest/UserGuide/burstable-credits-baseline-concepts.html",
	},
	{
		vendor: amazon, lasts: 30 * time.Minute,
		product: regexp.MustCompile(`^(t3a?|t4g|i3en)\.|^[a-z]+5[a-z]*\.2?x?large$|` +
			`^[a-z]+[46-9][a-z-]*\.(medium|[234]?x?large)$`),
		text:   "its highest rates to its volumes last 30 minutes a day",
		source: "docs.aws.amazon.com/ec2/latest/instancetypes, Amazon EBS specifications",
	},
	{
		vendor: amazon, model: regexp.MustCompile(`^Amazon Elastic Block Store`),
		below: 1000,
		text: "a volume of type gp2 makes 3,000 I/Os a second until its credits are spent, " +
			"then 3 for each GiB; st1 and sc1 have credits too, other types none. " +
			"A volume made of a snapshot is slow until each of its blocks has been read once",
		source: "docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html",
	},
	{
		vendor: azure,
		model:  regexp.MustCompile(`^(Virtual Disk|MSFT NVMe Accelerator)`),
		below:  1025,
		lasts:  30 * time.Minute,
		text: "a Premium SSD of up to 512 GiB and a Standard SSD of up to 1,024 bursts for 30 minutes, " +
			"and so do many sizes of machines",
		source: "learn.microsoft.com/azure/virtual-machines/disk-bursting",
	},
}

// gp2Lasts is how long 5.4 million credits last at 3,000 I/Os a second, while 3 come back a second
// for each GiB, and 100 at least.
func gp2Lasts(gib float64) time.Duration {
	const credits = 5.4e6
	return time.Duration(credits / (3000 - max(100, 3*gib)) * float64(time.Second))
}

// Bursts are those of a machine and of its drives, as far as these are known to a cloud.
func (m *Machine) Bursts() (all []Burst) {
	add := func(of string, lasts time.Duration, text, source string) {
		minutes := lasts.Round(time.Minute).Minutes()
		all = append(
			all,
			Burst{of, lasts, fmt.Sprintf("for up to %.0f minutes, as %s (%s, November 2026)",
				minutes, text, source)},
		)
	}
	for _, rule := range burstRules {
		if rule.vendor != m.Vendor {
			continue
		}
		if rule.product != nil && rule.product.MatchString(m.Product) {
			add(m.Product, rule.lasts, rule.text, rule.source)
		}
		for _, d := range m.Drives {
			gib := float64(d.Bytes) / (1 << 30)
			if rule.model != nil && rule.model.MatchString(d.Model) && gib < rule.below {
				add(d.Name, cmp.Or(rule.lasts, gp2Lasts(gib)), rule.text, rule.source)
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
