package compare

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/conclude"
	"ds2/internal/diagnose"
	"ds2/internal/measure"
	"ds2/internal/result"
)

// configuration is one of counted runs with these OPM.
func configuration(name, bottleneck string, opm ...float64) Configuration {
	c := Configuration{Name: name}
	for i, v := range opm {
		c.Runs = append(c.Runs, result.BenchRun{
			Dir:        fmt.Sprintf("run-%d", i+1),
			Status:     result.Done,
			Bottleneck: bottleneck,
			Headline: result.NewHeadline(
				&result.Figure{Unit: result.OPM, Value: v, CI95: new(v / 100)},
			),
		})
	}
	Runs(&c.Bench)
	return c
}

// TestOneName (E6) compares two configurations of one name: each is judged by its own record.
func TestOneName(t *testing.T) {
	slow := configuration("run-1", diagnose.CPU, 100, 101, 102)
	fast := configuration("run-1", diagnose.Storage, 200, 201, 202)
	c := WithFirst([]Configuration{fast, slow})
	held := result.FindingOf(c.Findings, result.NotOfStorage)
	require.NotNil(t, held)
	assert.Contains(t, held.Detail, "says little about the storage: run-1 was limited by the CPU")
	a := Configuration{Name: "run-1", Dir: "hdd/run-1"}
	b := Configuration{Name: "run-1", Dir: "ssd/run-1"}
	all := distinct([]Configuration{a, b})
	assert.Equal(t, []string{"hdd/run-1", "ssd/run-1"}, []string{all[0].Name, all[1].Name})
}

// TestOneFigure refuses to compare orders with I/Os.
func TestOneFigure(t *testing.T) {
	opm := configuration("a", "")
	iops := configuration("b", "")
	opm.Words.Unit = result.OPM
	iops.Words.Unit = result.IOPS
	assert.NoError(t, oneFigure([]Configuration{opm, opm}))
	assert.ErrorContains(t, oneFigure([]Configuration{iops, iops, opm}),
		"b and a: the result of one is in IOPS, of the other in OPM")
}

// TestParts: the ratio of results is that of I/Os a second by that of I/Os per order.
func TestParts(t *testing.T) {
	hdd := configuration("hdd", diagnose.Storage, 1000, 1020, 990, 1010, 1005)
	ssd := configuration("ssd", diagnose.Storage, 5300, 5420, 5350, 5290, 5410)
	for i := range 5 {
		writes := new(4.5 + float64(i)/10)
		part := float64(i) / 100
		hdd.Runs[i].Costs = &result.Costs{Reads: new(16 * (1 + part)), Writes: writes}
		ssd.Runs[i].Costs = &result.Costs{Reads: new(6 * (1 - part)), Writes: writes}
	}
	p := WithFirst([]Configuration{hdd, ssd}).Parts
	require.Len(t, p, 1)
	assert.InDelta(t, 5.33, p[0].Ratio, .01)
	assert.InDelta(t, .5033, p[0].IOsPerCycle, .0005)
	assert.InDelta(t, 2.681, p[0].IORate, .002)
	for i := range hdd.Runs {
		hdd.Runs[i].Costs = nil
	}
	assert.Nil(t, WithFirst([]Configuration{hdd, ssd}).Parts, "parts of what was not counted")
}

// TestInterim: what is said of an interval is its own level, also of what it would have shown, and
// only where it is one of an early look: by blocks of an experiment that goes on, or that an error
// ended.
func TestInterim(t *testing.T) {
	hdd := configuration("hdd", diagnose.Storage, 10, 11, 10, 12, 11, 10)
	ssd := configuration("ssd", diagnose.CPU, 21, 20, 23, 22, 21, 24)
	of := func(status result.Status, paired bool) (Comparison, Difference) {
		for k, c := range []*Configuration{&hdd, &ssd} {
			c.Experiment = "e"
			c.Status = status
			for i := range c.Runs {
				// by turns
				c.Runs[i].Block = 0
				c.Runs[i].Number = 2*i + (i+k)%2
				if paired {
					c.Runs[i].Block = i + 1
				}
			}
		}
		c := WithFirst([]Configuration{hdd, ssd})
		return c, *c.Of("ssd", Main)
	}
	running, early := of(result.Running, true)
	done, late := of(result.Done, true)
	unpaired, welch := of(result.Running, false)
	hdd.unfinished = true // as NewExperiment has those of one that is not done
	ssd.unfinished = true
	ended, cut := of(result.Done, true)
	for _, c := range []struct {
		of   Comparison
		d    Difference
		want string
	}{
		{running, early, "interim, 99.9 %"},
		{done, late, "95 %"},
		{unpaired, welch, "95 %"},
		{ended, cut, "interim, 99.9 %"},
	} {
		assert.Equal(t, c.want, c.of.Confidence())
		assert.Contains(t, c.d.Text(), "("+c.want+" confidence +")
		assert.Contains(
			t,
			strings.Join(result.Sentences(c.of.Findings, result.Informs), "; "),
			"("+c.want+" confidence)",
		)
	}
}

// TestMissingRun: a configuration of which the record of a run is gone is an error where that is to
// be read, and does not vanish from the experiment; one that has not begun has no part in it yet.
func TestMissingRun(t *testing.T) {
	dir := t.TempDir()
	record := result.Experiment{}
	for _, name := range []string{"hdd", "ssd", "tape"} {
		record.Configurations = append(
			record.Configurations,
			result.Configuration{Name: name, Dir: name},
		)
		require.NoError(t, result.MakeDir(filepath.Join(dir, name)))
	}
	for _, name := range []string{"hdd", "ssd"} {
		bench := configuration(name, "", 1, 2).Bench
		bench.Status = result.Done
		require.NoError(t, result.SaveSummary(filepath.Join(dir, name), bench))
	}
	e, err := NewExperiment(conclude.Reader{}, dir, record)
	require.NoError(t, err)
	require.Len(t, e.Benches, 2)
	windows, err := measure.ParseWindows([]string{"auto"})
	require.NoError(t, err)
	_, err = NewExperiment(conclude.Reader{Windows: windows}, dir, record)
	require.ErrorContains(t, err, filepath.Join("hdd", "run-1"))
}
