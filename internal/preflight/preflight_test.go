package preflight

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/monitor"
	"ds2/internal/store"
)

// TestRoomOfTwo has two databases that fit on a drive each, but not both on one.
func TestRoomOfTwo(t *testing.T) {
	files := func(server string) []monitor.File {
		return []monitor.File{{Role: monitor.Data, Path: "/data/" + server}, {Role: monitor.Log, Path: "/data/" + server + "/pg_wal"}}
	}
	for _, c := range []struct {
		why      string
		servers  [2]string
		machines [2]string
		want     []store.State
	}{
		{"two servers on one drive", [2]string{"a", "b"}, [2]string{}, []store.State{store.Failure}},
		{"two databases of one server, which has one log", [2]string{"a", "a"}, [2]string{}, []store.State{store.OK}},
		{"two machines", [2]string{"a", "a"}, [2]string{"one", "two"}, []store.State{store.OK, store.OK}},
	} {
		var targets []Target
		for i := range c.servers {
			free := func(string) (int64, string, string, bool) { return 3 << 30, c.machines[i], "/data", true }
			targets = append(targets, Target{Label: "db", Files: files(c.servers[i]), LogGrowth: 2 << 30, Free: free})
		}
		found := Room(targets, Load{})
		var states []store.State
		for _, f := range found {
			states = append(states, f.State)
		}
		assert.True(t, slices.Equal(states, c.want), "%s: %+v", c.why, found)
	}
}

func TestRoom(t *testing.T) {
	const gb = 1 << 30
	both := []monitor.File{{Role: monitor.Data, Path: "/data"}, {Role: monitor.Log, Path: "/data/pg_wal"}}
	apart := []monitor.File{{Role: monitor.Data, Path: "/data"}, {Role: monitor.Log, Path: "/log"}}
	for _, c := range []struct {
		why   string
		files []monitor.File
		free  map[string]int64 // by mount
		users int
		run   time.Duration
		log   int64
		want  []store.State
	}{
		{"much is free", both, map[string]int64{"/data": 100 * gb}, 32, 20 * time.Minute, gb, []store.State{store.OK}},
		{"the log alone does not fit", both, map[string]int64{"/data": gb}, 1, time.Minute, gb, []store.State{store.Failure}},
		{"the orders may not fit", both, map[string]int64{"/data": 2 * gb}, 32, time.Hour, gb, []store.State{store.Warning}},
		{"a run without end is judged by an hour", both, map[string]int64{"/data": 2 * gb}, 32, 0, gb, []store.State{store.Warning}},
		{"the log has a drive of its own, which is too small", apart, map[string]int64{"/data": 100 * gb, "/log": gb / 2}, 1, time.Minute, gb, []store.State{store.OK, store.Failure}},
		{"nobody knows how far the log grows", apart, map[string]int64{"/data": 100 * gb, "/log": gb}, 1, time.Minute, -1, []store.State{store.OK, store.OK}},
		{"the drives are elsewhere", both, nil, 1, time.Minute, gb, []store.State{store.Warning}},
		{"the server does not tell", nil, nil, 1, time.Minute, gb, []store.State{store.Warning}},
	} {
		free := func(dir string) (int64, string, string, bool) {
			for mount, free := range c.free {
				if strings.HasPrefix(dir, mount) {
					return free, "", mount, true
				}
			}
			return 0, "", "", false
		}
		target := Target{Label: "db1", Files: c.files, LogGrowth: c.log, Free: free}
		found := Room([]Target{target}, Load{Growth: float64(c.users) * 40_000, Length: c.run})
		var states []store.State
		for _, f := range found {
			states = append(states, f.State)
			assert.Equal(t, f.Do == "", f.State == store.OK, "%s: %+v", c.why, f)
		}
		if len(states) != len(c.want) {
			t.Errorf("%s: %+v", c.why, found)
			continue
		}
		for i := range states {
			assert.Equal(t, c.want[i], states[i], "%s: %+v", c.why, found)
		}
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
	ofClosed := store.Failure
	if os.Geteuid() == 0 { // may write everywhere
		ofClosed = store.OK
	}
	for place, want := range map[string]store.State{
		filepath.Join(dir, "new"):         store.OK,
		filepath.Join(dir, "new", "deep"): store.OK,
		empty:                             store.OK,
		dir:                               store.Failure, // holds something
		file:                              store.Failure,
		filepath.Join(file, "under"):      store.Failure,
		filepath.Join(closed, "out"):      ofClosed,
	} {
		if f := Record(place); f.State != want {
			t.Errorf("a record in %s: %+v, want %s", place, f, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); !os.IsNotExist(err) {
		t.Errorf("to look has made the directory: %v", err)
	}
}

func TestDescriptors(t *testing.T) {
	if f, known := Descriptors(1); known && f.State != store.OK {
		t.Errorf("one user: %+v", f)
	}
	if f, known := Descriptors(1 << 40); known && (f.State != store.Failure || !strings.Contains(f.Do, "ulimit")) {
		t.Errorf("many users: %+v", f)
	}
}
