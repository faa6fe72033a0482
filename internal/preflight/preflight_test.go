package preflight

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/monitor"
	"ds2/internal/topology"
)

func TestRoom(t *testing.T) {
	const gb = 1 << 30
	both := []topology.File{
		{Role: topology.Data, Path: "/data"},
		{Role: topology.Log, Path: "/data/pg_wal"},
	}
	apart := []topology.File{
		{Role: topology.Data, Path: "/data"},
		{Role: topology.Log, Path: "/log"},
	}
	other := []topology.File{
		{Role: topology.Data, Path: "/data/b"},
		{Role: topology.Log, Path: "/data/b/pg_wal"},
	}
	ok := []State{OK}
	warning := []State{Warning}
	much := map[string]int64{"/data": 100 * gb}
	fits := map[string]int64{"/data": 3 * gb} // the log of a database that grows by 2 GB
	type target struct {
		files   []topology.File
		log     int64
		machine string
	}
	for _, c := range []struct {
		why     string
		targets []target
		free    map[string]int64 // by mount
		want    []State
	}{
		{"much is free", []target{{both, gb, ""}}, much, ok},
		{
			"the log alone does not fit",
			[]target{{both, gb, ""}},
			map[string]int64{"/data": gb},
			warning,
		},
		{
			"the log has a separate drive, which is too small",
			[]target{{apart, gb, ""}},
			map[string]int64{"/data": 100 * gb, "/log": gb / 2},
			[]State{OK, Warning},
		},
		{
			"unknown growth of the log",
			[]target{{apart, -1, ""}},
			map[string]int64{"/data": 100 * gb, "/log": gb},
			[]State{OK, OK},
		},
		{"the drives are elsewhere", []target{{both, gb, ""}}, nil, warning},
		{"the server does not tell", []target{{nil, gb, ""}}, nil, warning},
		{
			"two servers on one drive",
			[]target{{both, 2 * gb, ""}, {other, 2 * gb, ""}},
			fits,
			warning,
		},
		{
			"two databases of one server, which has one log",
			[]target{{both, 2 * gb, ""}, {both, 2 * gb, ""}},
			fits, ok,
		},
		{
			"two machines",
			[]target{{both, 2 * gb, "one"}, {both, 2 * gb, "two"}},
			fits,
			[]State{OK, OK},
		},
	} {
		var targets []Target
		for _, of := range c.targets {
			targets = append(targets, Target{
				Label: "db", Files: of.files, LogGrowth: of.log,
				Free: func(dir string) (int64, string, string, bool) {
					for mount, free := range c.free {
						if strings.HasPrefix(dir, mount) {
							return free, of.machine, mount, true
						}
					}
					return 0, "", "", false
				},
			})
		}
		found := Room(targets)
		var states []State
		for _, f := range found {
			states = append(states, f.State)
			assert.Equal(t, f.Do == "", f.State == OK, "%s: %+v", c.why, f)
		}
		assert.Equal(t, c.want, states, "%s: %+v", c.why, found)
	}
}

func TestRecord(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	empty := filepath.Join(dir, "empty")
	require.NoError(t, os.Mkdir(empty, 0o755))
	closed := filepath.Join(dir, "closed")
	require.NoError(t, os.Mkdir(closed, 0o555))
	ofClosed := Failure
	if os.Geteuid() == 0 { // may write everywhere
		ofClosed = OK
	}
	for place, want := range map[string]State{
		filepath.Join(dir, "new"):         OK,
		filepath.Join(dir, "new", "deep"): OK,
		empty:                             OK,
		dir:                               Failure, // holds something
		file:                              Failure,
		filepath.Join(file, "under"):      Failure,
		filepath.Join(closed, "out"):      ofClosed,
	} {
		f := Record(place)
		assert.Equal(t, want, f.State, "a record in %s: %+v", place, f)
	}
	assert.NoDirExists(t, filepath.Join(dir, "new"), "to look has made the directory")
}

func TestDescriptors(t *testing.T) {
	one, known := Descriptors(1)
	if !known {
		t.Skip("the system does not tell the limit")
	}
	assert.Equal(t, OK, one.State, "one user: %+v", one)
	many, _ := Descriptors(1 << 40)
	assert.Equal(t, Failure, many.State, "many users: %+v", many)
	assert.Contains(t, many.Do, "ulimit")
}

// TestDevicesElsewhere: devices that do not hold the databases' files are refused.
func TestDevicesElsewhere(t *testing.T) {
	o := &monitor.Observer{Found: []monitor.Found{
		{Kind: monitor.DevicesElsewhere, Of: "/data", Detail: "loop3, not loop2"},
		{Kind: monitor.MountsAssumed, Of: "host:5432", Detail: "process 7"},
	}}
	found := Observed(o)
	assert.Equal(t, Finding{
		Kind: monitor.DevicesElsewhere, What: "drives", State: Failure,
		Found: "/data lies on loop3, not loop2", Do: "correct --devices, or leave it out",
	}, found[0])
	assert.Equal(t, Warning, found[1].State)
}

// TestBursts: what a cloud lends for a time is said with the time before any run.
func TestBursts(t *testing.T) {
	o := &monitor.Observer{Found: []monitor.Found{
		{Kind: monitor.MayBurst, Of: "nvme1n1", Detail: "for up to 33 minutes, as gp2"},
	}}
	assert.Equal(t, Finding{
		Kind: monitor.MayBurst, What: "drives", State: Warning,
		Found: "nvme1n1 may be faster than it can stay for up to 33 minutes, as gp2",
		Do:    "measure for longer, or after that",
	}, Observed(o)[0])
}
