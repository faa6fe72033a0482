package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/numbers"
	"ds2/internal/result"
	"ds2/internal/sampling"
)

// TestSplitTable: each part of a table that is wider than a terminal names its rows, by
// configuration and run where the configuration alone is that of several.
func TestSplitTable(t *testing.T) {
	runs := table{Head: []string{"configuration", "run", "OPM", "read latency", "CPUs"}}
	runs.row("disks", "run-1", "1,000", "10.9", "21.3")
	runs.row("disks", "run-2", "1,010", "11.0", "21.4")
	assert.Equal(t, []string{
		"  configuration    run    OPM       read",
		"                                 latency",
		"  disks          run-1  1,000       10.9",
		"  disks          run-2  1,010       11.0",
		"",
		"  configuration    run  CPUs",
		"  disks          run-1  21.3",
		"  disks          run-2  21.4",
	}, runs.text(40))
}

// TestLegendTellsReadsFromWrites: the legend of a few drives names each line, which it draws with
// its dashes; that of many names each drive once, and the text says what the dashes are.
func TestLegendTellsReadsFromWrites(t *testing.T) {
	of := func(drives ...string) (c chart) {
		var columns []string
		for _, drive := range drives {
			reads := sampling.ItemColumn(sampling.DiskReads, drive)
			columns = append(columns, reads, sampling.ItemColumn(sampling.DiskWrites, drive))
		}
		for _, spec := range counterCharts {
			if c, shown := spec.drawColumns("r", columns); len(shown) > 0 {
				return c
			}
		}
		return c
	}
	few := of("sdb")
	require.Len(t, few.Lines, 2)
	assert.NotEqual(t, few.Lines[0].Name, few.Lines[1].Name)
	assert.NotEqual(t, few.Lines[0].Dash, few.Lines[1].Dash)
	many := of("sda", "sdb", "sdc", "sdd", "sde")
	require.Len(t, many.Lines, 10)
	assert.Equal(t, many.Lines[0].Name, many.Lines[1].Name)
	assert.Contains(t, many.Text, "ashed: ")
}

// TestBlocks: a table says of which differences the one in the headline is the mean, block by block.
func TestBlocks(t *testing.T) {
	blocks := comparison{arraysOf(t, 1.5, 0).Comparison}.blockTable()
	assert.Equal(t, []string{"block", "hdd", "ssd", "difference"}, blocks.Head)
	require.Len(t, blocks.Rows, 5)
	for i, row := range blocks.Rows {
		assert.Equal(t, numbers.Integer(int64(i+1)), row[0])
		assert.Regexp(t, `^\+[45]\d(\.\d)? %$`, row[3])
	}
}

// TestDevicePage: the headline says what the device does so many of, and a picture without runs says
// nothing of dots.
func TestDevicePage(t *testing.T) {
	drive := Device{Name: "sda", Device: &result.Device{
		Reads: []result.DevicePoint{{Depth: 1, IOPS: 600, Mean: .0016}},
	}}
	assert.Contains(t, Devices([]Device{drive}).Sentence(), "random reads: 600/s")
	const dots = "a dot is a run"
	assert.NotContains(t, deviceChart("sda", []Device{drive}).Text, dots)
	drive.runs = []result.BenchRun{{Counts: true, Conditions: []result.Condition{
		{Name: result.ReadsOfDevices, Value: 500}, {Name: result.ReadLatency, Value: 1.8},
	}}}
	assert.Contains(t, deviceChart("sda", []Device{drive}).Text, dots)
}
