package preflight

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/monitor"
	"ds2/internal/store"
)

// states are those of findings.
func states(found []store.Finding) (all []store.State) {
	for _, f := range found {
		all = append(all, f.State)
	}
	return all
}

// TestRoomOfTwo has two databases that fit on a drive each, but not both on one.
func TestRoomOfTwo(t *testing.T) {
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
		for i, server := range c.servers {
			files := []monitor.File{
				{Role: monitor.Data, Path: "/data/" + server}, {Role: monitor.Log, Path: "/data/" + server + "/pg_wal"},
			}
			free := func(string) (int64, string, string, bool) { return 3 << 30, c.machines[i], "/data", true }
			targets = append(targets, Target{Label: "db", Files: files, LogGrowth: 2 << 30, Free: free})
		}
		found := Room(targets, Load{})
		assert.Equal(t, c.want, states(found), "%s: %+v", c.why, found)
	}
}

func TestRoom(t *testing.T) {
	const gb = 1 << 30
	both := []monitor.File{{Role: monitor.Data, Path: "/data"}, {Role: monitor.Log, Path: "/data/pg_wal"}}
	apart := []monitor.File{{Role: monitor.Data, Path: "/data"}, {Role: monitor.Log, Path: "/log"}}
	ok, warning, failure := []store.State{store.OK}, []store.State{store.Warning}, []store.State{store.Failure}
	much, little := map[string]int64{"/data": 100 * gb}, map[string]int64{"/data": 2 * gb}
	for _, c := range []struct {
		why   string
		files []monitor.File
		free  map[string]int64 // by mount
		users int
		run   time.Duration
		log   int64
		want  []store.State
	}{
		{"much is free", both, much, 32, 20 * time.Minute, gb, ok},
		{"the log alone does not fit", both, map[string]int64{"/data": gb}, 1, time.Minute, gb, failure},
		{"the orders may not fit", both, little, 32, time.Hour, gb, warning},
		{"a run without end is judged by an hour", both, little, 32, 0, gb, warning},
		{"the log has a drive of its own, which is too small", apart,
			map[string]int64{"/data": 100 * gb, "/log": gb / 2}, 1, time.Minute, gb,
			[]store.State{store.OK, store.Failure}},
		{"nobody knows how far the log grows", apart, map[string]int64{"/data": 100 * gb, "/log": gb},
			1, time.Minute, -1, []store.State{store.OK, store.OK}},
		{"the drives are elsewhere", both, nil, 1, time.Minute, gb, warning},
		{"the server does not tell", nil, nil, 1, time.Minute, gb, warning},
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
		assert.Equal(t, c.want, states(found), "%s: %+v", c.why, found)
		for _, f := range found {
			assert.Equal(t, f.Do == "", f.State == store.OK, "%s: %+v", c.why, f)
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
		f := Record(place)
		assert.Equal(t, want, f.State, "a record in %s: %+v", place, f)
	}
	assert.NoDirExists(t, filepath.Join(dir, "new"), "to look has made the directory")
}

func TestDescriptors(t *testing.T) {
	if f, known := Descriptors(1); known && f.State != store.OK {
		t.Errorf("one user: %+v", f)
	}
	if f, known := Descriptors(1 << 40); known && (f.State != store.Failure || !strings.Contains(f.Do, "ulimit")) {
		t.Errorf("many users: %+v", f)
	}
}
