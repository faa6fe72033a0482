package report

import (
	"testing"

	"ds2/internal/sampling"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSplitTable: each part of a table that is wider than a terminal names its rows, by
// configuration and run where the configuration alone is that of several.
func TestSplitTable(t *testing.T) {
	runs := newTable("", "configuration", "run", "OPM", "read latency", "CPUs")
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
			if c, shown := spec.chart("r", columns); len(shown) > 0 {
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
