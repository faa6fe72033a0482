package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/topology"
)

// benchOn is a configuration of runs on servers with these settings, one for each.
func benchOn(name string, settings ...map[string]string) Configuration {
	b := result.Bench{Status: result.Done, Spec: result.Spec{Size: "S", Threads: 2}}
	for i, these := range settings {
		value := 1000 + float64(i)
		s := result.Summary{Spec: b.Spec}
		s.Status = result.Done
		s.Servers = []topology.Server{{Version: "15", Settings: these}}
		s.Headline = result.NewHeadline(&result.Figure{Unit: result.OPM, Value: value})
		s.Windows = []measure.Window{{OPM: value}}
		run := result.BenchRun{Dir: fmt.Sprintf("run-%d", i+1), Status: result.Done}
		Take(&run, s)
		b.Runs = append(b.Runs, run)
	}
	Runs(&b)
	return Configuration{Name: name, Bench: b}
}

// findingsOf are the details of a kind.
func findingsOf(c Comparison, kind result.FindingKind) (details []string) {
	for _, f := range c.Findings {
		if f.Kind == kind {
			details = append(details, f.Detail)
		}
	}
	return details
}

// TestUnlikeConfigurations: servers that are not alike take a comparison's trust, unless what
// differs is declared; of many differences three are named, and all stand in the table.
func TestUnlikeConfigurations(t *testing.T) {
	small := map[string]string{"a": "1", "b": "1", "c": "1", "d": "1", "shared_buffers": "64MB"}
	large := map[string]string{"a": "2", "b": "2", "c": "2", "d": "2", "shared_buffers": "512MB"}
	both := []Configuration{benchOn("small", small, small), benchOn("large", large, large)}
	c := WithFirst(both)
	assert.Equal(
		t,
		[]string{"a 1 and 2; b 1 and 2; c 1 and 2 and 2 more"},
		findingsOf(c, result.Unlike),
	)
	assert.Equal(t, result.Unlike, c.Findings[0].Kind, "a reader sees it first")
	assert.Len(t, c.Differing, 5)

	c = WithFirst(both, "a", "B", "c", "d")
	assert.Equal(t, []string{"shared_buffers 64MB and 512MB"}, findingsOf(c, result.Unlike))
	assert.True(t, c.Differing[0].Declared)
	c = WithFirst(both, "a", "b", "c", "d", "shared-buffers")
	assert.Empty(t, findingsOf(c, result.Unlike))
	assert.Len(t, c.Differing, 5, "the table has them still")

	for i := range both {
		both[i].Experiment = "x"
		both[i].Subject = []string{"a", "b", "c", "d", "threads"}
	}
	both[1].Threads = 8
	both[1].Spec.Size = "W"
	assert.Equal(
		t,
		[]string{"size S and W; shared_buffers 64MB and 512MB"},
		findingsOf(WithFirst(both), result.Unlike),
		"an experiment is compared too, but for its factors",
	)
	both[1].Experiment = "y"
	assert.Equal(t, []string{"size S and W; threads 2 and 8; a 1 and 2 and 4 more"},
		findingsOf(WithFirst(both), result.Unlike), "what one declares is not so of another")

	require.NoError(t, CheckSubject(both, []string{"SHARED-BUFFERS", "threads"}))
	assert.ErrorContains(t, CheckSubject(both, []string{"shard_buffers"}),
		`no record has "shard_buffers"; these records differ in size, threads, a,`)
}

// TestUnlikeRuns: a server that was changed between two runs of a configuration is found.
func TestUnlikeRuns(t *testing.T) {
	small := map[string]string{"shared_buffers": "64MB"}
	c := WithFirst([]Configuration{benchOn("a", small, small)})
	assert.Empty(t, findingsOf(c, result.RunsUnlike))
	large := map[string]string{"shared_buffers": "512MB"}
	c = WithFirst([]Configuration{benchOn("a", small, large, small, large)})
	require.Equal(t, []string{"shared_buffers 64MB and 512MB"}, findingsOf(c, result.RunsUnlike))
	for _, f := range c.Findings {
		if f.Kind == result.RunsUnlike {
			assert.Equal(t, "a: 2 of 4 valid runs were not measured on the same as the first: "+
				"shared_buffers 64MB and 512MB", f.Words())
			assert.Equal(t, result.Withholds, f.Effect)
		}
	}
}

// TestDrawnAnew: runs on new volumes of a storage class differ in drive and node, which is what
// blocks draw; what else differs is found.
func TestDrawnAnew(t *testing.T) {
	server := map[string]string{"shared_buffers": "64MB"}
	for _, c := range []struct{ class, kernel, want string }{
		{"gp3", "6.1", ""},
		{"gp3", "6.12", "kernel 6.1 and 6.12"},
		{"", "6.1", "node worker-1 and worker-2; drives nvme1n1 and nvme2n1"},
	} {
		bench := benchOn("a", server, server)
		for i, kernel := range []string{"6.1", c.kernel} {
			e := bench.Runs[i].Environment
			e.StorageClass = c.class
			e.Kernel = kernel
			e.Node = fmt.Sprint("worker-", i+1)
			e.Drives = []string{fmt.Sprintf("nvme%dn1", i+1)}
		}
		found := strings.Join(findingsOf(WithFirst([]Configuration{bench}), result.RunsUnlike), "")
		assert.Equal(t, c.want, found)
	}
}
