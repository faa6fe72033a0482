package topology

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ds2/internal/machinetest"
)

// TestBursts: machines and drives of clouds are recognised by what firmware and drives say.
func TestBursts(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		name, firmware, model string
		bytes                 int64
		want                  map[string]time.Duration
	}{
		{
			"a small machine and a volume that may be gp2",
			"sys_vendor=Amazon+EC2 product_name=m5.large", "Amazon+Elastic+Block+Store", 500 * gib,
			map[string]time.Duration{"m5.large": 30 * time.Minute, "sda": time.Hour},
		},
		{
			"the smallest volumes",
			"sys_vendor=Amazon+EC2 product_name=m5.8xlarge", "Amazon+Elastic+Block+Store", 8 * gib,
			map[string]time.Duration{"sda": 1862 * time.Second},
		},
		{
			"a volume that is large enough",
			"sys_vendor=Amazon+EC2 product_name=r7g.16xlarge", "Amazon+Elastic+Block+Store", 2000 * gib,
			nil,
		},
		{
			"a local drive",
			"sys_vendor=Amazon+EC2 product_name=i4i.4xlarge",
			"Amazon+EC2+NVMe+Instance+Storage", 500 * gib,
			map[string]time.Duration{"i4i.4xlarge": 30 * time.Minute},
		},
		{
			"credits of CPUs",
			"sys_vendor=Amazon+EC2 product_name=t4g.2xlarge", "x", gib,
			map[string]time.Duration{"t4g.2xlarge": 24 * time.Hour},
		},
		{
			"Azure",
			"sys_vendor=Microsoft+Corporation product_name=Virtual+Machine chassis_asset_tag=" + azureTag,
			"Virtual+Disk", 1024 * gib,
			map[string]time.Duration{"sda": 30 * time.Minute},
		},
		{
			"Hyper-V",
			"sys_vendor=Microsoft+Corporation product_name=Virtual+Machine", "Virtual+Disk", gib,
			nil,
		},
		{
			"Google", "sys_vendor=Google product_name=Google+Compute+Engine",
			"PersistentDisk", 100 * gib, nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs, _ := machine(t)
			machinetest.WriteFiles(t, fs.Sys, "class/dmi/id "+c.firmware+"\n"+
				"devices/pci/sda device/model="+c.model)
			m := fs.Machine([]string{"sda"})
			m.Drives[0].Bytes = c.bytes
			got := map[string]time.Duration{}
			for _, b := range m.Bursts() {
				got[b.Of] = max(got[b.Of], b.Lasts.Round(time.Second))
				assert.Contains(t, b.Text, "November 2026")
			}
			assert.Len(t, got, len(c.want))
			for of, lasts := range c.want {
				assert.Equal(t, lasts, got[of], of)
			}
		})
	}
}
