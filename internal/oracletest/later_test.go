package oracletest_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/oracletest"
	"ds2/internal/result"
	"ds2/internal/topology"
)

// ground is something that runs are measured on, in which the last configuration may differ.
type ground struct {
	name    string // as a comparison names it
	subject bool   // a comparison of storage is about it
	change  func(s *result.Summary)
}

var grounds = []ground{
	{name: "server version", change: func(s *result.Summary) { s.Servers[0].Version = "18.3" }},
	{name: "shared_buffers", change: func(s *result.Summary) {
		s.Servers[0].Settings["shared_buffers"] = "512MB"
	}},
	{name: "commit_delay", change: func(s *result.Summary) {
		s.Servers[0].OtherSettings["commit_delay"] = "100000"
	}},
	{name: "operating system", change: func(s *result.Summary) { s.Machine.System = "Debian 13" }},
	{name: "kernel", change: func(s *result.Summary) { s.Machine.Kernel = "6.12" }},
	{name: "CPU model", change: func(s *result.Summary) { s.Machine.Processor = "another" }},
	{name: "CPUs", change: func(s *result.Summary) { s.Machine.Processors = 64 }},
	{name: "memory", change: func(s *result.Summary) { s.Machine.MemoryBytes = 64e9 }},
	{name: "file system", change: func(s *result.Summary) { s.Machine.FileSystem.Type = "xfs" }},
	{name: "mount options", change: func(s *result.Summary) {
		s.Machine.FileSystem.Options = []string{"noatime"}
	}},
	{name: "machine", subject: true, change: func(s *result.Summary) { s.Machine.Hostname = "b" }},
	{name: "drives", subject: true, change: func(s *result.Summary) {
		for i := range s.Machine.Drives {
			s.Machine.Drives[i].Model = "another"
		}
	}},
}

// later are the random numbers of what this file makes up.
func later(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 64)) }

// setGround makes up what the runs are measured on: in some experiments the last configuration on
// something else, which the user declares in some.
func (m *madeUp) setGround() {
	random := later(m.seed)
	if m.unlike == "" && len(m.names) > 1 && random.Float64() < .5 {
		m.ground = &grounds[random.IntN(len(grounds))]
	}
	name := m.unlike
	if m.ground != nil {
		name = m.ground.name
	}
	if name != "" && random.Float64() < .3 {
		m.declared = name
	}
	switch {
	case m.declared != "" || m.ground != nil && m.ground.subject:
		m.unlike = ""
	case m.ground != nil:
		m.unlike = name
	}
	if random.Float64() < .2 {
		between := slices.DeleteFunc(slices.Clone(grounds), func(g ground) bool {
			return len(m.names) > 1 && !g.subject // else the configurations are unlike, too
		})
		m.shift = &between[random.IntN(len(between))]
		m.shiftAt = 1 + random.IntN(2*m.runs)
	}
}

// stand says what a run of a configuration, of a number among all runs, was measured on.
func (m *madeUp) stand(s *result.Summary, configuration, number int) {
	s.Servers = []topology.Server{{
		Version:       "15.14",
		Settings:      map[string]string{"shared_buffers": "64MB"},
		OtherSettings: map[string]string{"commit_delay": "0"},
	}}
	s.Machine.Hostname = "a"
	s.Machine.System = "Debian 12"
	s.Machine.Kernel = "6.1"
	s.Machine.Processor = "one"
	s.Machine.MemoryBytes = 32e9
	s.Machine.FileSystem = &topology.FileSystem{Type: "ext4", Options: []string{"relatime"}}
	if m.ground != nil && configuration == len(m.names)-1 {
		m.ground.change(s)
	}
	if m.shift != nil && configuration == 0 && number >= m.shiftAt {
		m.shift.change(s)
	}
}

// compare is the arguments of a comparison of directories.
func (m *madeUp) compare(dirs []string, flags ...string) []string {
	args := append([]string{"compare"}, flags...)
	if m.declared != "" && !m.blocks { // an experiment's file has it
		args = append(args, "--subject", m.declared)
	}
	return append(args, dirs...)
}

// auditLater has a run audited after all was made, and holds what ds2 says then. An audit may undo
// what an earlier one found.
func (m *madeUp) auditLater() {
	random := later(m.seed + 1)
	dir := m.pickRun(random)
	if dir == "" || random.Float64() < .4 {
		return
	}
	s, err := result.ReadSummary[result.Summary](dir)
	require.NoError(m.t, err)
	passed := random.Float64() < .3
	s.Audit = &result.Audit{Passed: passed, Checks: []result.Check{{Name: "orders", Passed: passed}}}
	require.NoError(m.t, result.SaveSummary(dir, s))
	m.exits = nil // of benches that did not know of it
	m.agree()
}

// pickRun is the directory of a run that counts; empty where none does.
func (m *madeUp) pickRun(random *rand.Rand) string {
	var dirs []string
	for _, name := range m.names {
		b, err := oracletest.ReadBench(filepath.Join(m.dir, name))
		require.NoError(m.t, err)
		for _, r := range b.Counted() {
			dirs = append(dirs, filepath.Join(m.dir, name, r.Dir))
		}
	}
	if len(dirs) == 0 {
		return ""
	}
	return dirs[random.IntN(len(dirs))]
}

// tamper changes what a run wrote: no report shows it, and the file is named.
func (m *madeUp) tamper() {
	t := m.t
	random := later(m.seed + 2)
	dir := m.pickRun(random)
	if dir == "" {
		return
	}
	files := []string{result.SamplesFile, result.HistogramsFile, result.HostFile}
	file := files[random.IntN(len(files))]
	path := filepath.Join(dir, file)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	refused := []string{dir}
	switch what := random.IntN(4); what {
	case 0:
		text[random.IntN(len(text))] ^= 1
		require.NoError(t, os.WriteFile(path, text, 0o666))
	case 1:
		require.NoError(t, os.Remove(path))
	case 2:
		other, err := os.ReadFile(filepath.Join(m.pickRun(random), file))
		require.NoError(t, err)
		if bytes.Equal(other, text) { // of the same run, or of one that knows as little
			return
		}
		require.NoError(t, os.WriteFile(path, other, 0o666))
	default:
		file = result.SummaryFile
		path = filepath.Join(dir, file)
		text, err = os.ReadFile(path)
		require.NoError(t, err)
		forged := strings.Replace(string(text), `"opm": `, `"opm": 1`, 1)
		require.NotEqual(t, string(text), forged)
		require.NoError(t, os.WriteFile(path, []byte(forged), 0o666))
		refused = append(refused, filepath.Dir(dir))
	}
	for _, one := range refused {
		code, stdout, stderr := execute(t, "report", "-o", "text", one)
		assert.Equal(t, exitFailed, code, "%s of %s was changed\n%s", file, dir, stdout)
		assert.Contains(t, stderr, fmt.Sprint(filepath.Base(dir), "/", file), "a report of %s", one)
	}
}
