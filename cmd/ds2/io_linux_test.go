package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/device/devicetest"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/monitor"
	"ds2/internal/nightly"
	"ds2/internal/sampling"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

// ioCase is a server's drives, and how it syncs its log.
type ioCase struct {
	version         int
	apart           bool // data and log on separate drives
	workload, cache string
	method          string
}

func (c ioCase) String() string {
	layout := "one drive"
	if c.apart {
		layout = "two drives"
	}
	return fmt.Sprintf(
		"PostgreSQL %d | %s | %s | %s | %s",
		c.version,
		layout,
		c.workload,
		c.method,
		c.cache,
	)
}

// ioServer is a server on drives whose caches can be switched.
type ioServer struct {
	*localpg.Server
	drives []devicetest.Drive // data, log
}

func startIOServer(t *testing.T, c ioCase) (s ioServer) {
	t.Helper()
	data := devicetest.Mount(t, "/dev/shm", 700<<20)
	s.drives = append(s.drives, data)
	if c.apart {
		s.drives = append(s.drives, devicetest.Mount(t, "/dev/shm", 300<<20))
	}
	s.Server = pgtest.Start(t, localpg.Options{
		Version: c.version, DataDir: filepath.Join(data.Dir, "data"), Settings: map[string]string{
			// Little memory, and each page goes to the drive at once, so that it is an I/O whoever
			// writes it.
			"shared_buffers":         "2MB",
			"backend_flush_after":    "8kB",
			"checkpoint_flush_after": "8kB",
			"max_wal_size":           "128MB",
			"autovacuum":             "off",
			"bgwriter_lru_maxpages":  "0",
			"checkpoint_timeout":     "1h",
		},
	})
	if c.apart {
		pgtest.MoveLog(t, s.Server, s.drives[1].Dir)
	}
	must(t, words("load --target %s --size 20MB -q", s.URL("ds2"))...)
	must(
		t,
		words(
			"load --target %s --workload mailbox --mailboxes 10 --mailbox-size 2MB -q",
			s.URL("mail"),
		)...)
	return s
}

// ios is what was counted of a run by several: numbers, not rates.
type ios struct {
	data, log, syncs float64 // by Storage
	tracedData       float64 // with the journal's
	tracedLog        float64
	tracedFlushes    float64 // of the log
	each             float64 // database I/Os per operation
}

// TestIOs has the tracer, which sees each request with its flags, judge what Storage says of the
// drives: by role within 3 %, with as many syncs of the log as the server counts, and as many I/Os
// per operation with a write-back cache as without. make ios runs all cases, those of different
// servers at once; CI a few.
func TestIOs(t *testing.T) {
	nightly.Long(t, "lets users work on several drives")
	versions := []int{0}
	layouts := []bool{false}
	workloads := []string{"mail"}
	methods := []string{"fdatasync", "open_datasync"}
	all := os.Getenv("DS2_TEST_IOS") != ""
	if all {
		versions = []int{15, 18}
		layouts = []bool{false, true}
		workloads = []string{"ds2", "mail"}
		methods = append(methods, "open_sync", "fsync")
	}
	for _, version := range versions {
		for _, apart := range layouts {
			t.Run(fmt.Sprintf("%d/%v", version, apart), func(t *testing.T) {
				t.Parallel()
				s := startIOServer(t, ioCase{version: version, apart: apart})
				for _, workload := range workloads {
					each := map[string]float64{}
					for _, method := range methods {
						for _, cache := range []string{"write back", "write through"} {
							c := ioCase{version, apart, workload, cache, method}
							each[cache] += s.judge(t, c) / float64(len(methods))
						}
					}
					through := each["write through"]
					back := each["write back"]
					t.Logf(
						"%s: %.3f I/Os per operation write through, %.3f write back",
						workload,
						through,
						back,
					)
					if all && workload == "mail" { // fewer cases vary
						assert.InEpsilon(t, through, back, .05, "I/Os per operation")
					}
				}
			})
		}
	}
}

// judge compares what is said of a run with what the tracer saw of it, and gives the database I/Os
// per operation.
func (s ioServer) judge(t *testing.T, c ioCase) (each float64) {
	t.Helper()
	const share = .03
	got := s.run(t, c)
	t.Logf(
		"| %v | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.3f |",
		c,
		got.data,
		got.tracedData,
		got.log,
		got.tracedLog,
		got.syncs,
		got.tracedFlushes,
		got.each,
	)
	assert.InEpsilon(t, got.tracedData, got.data, share, "%v: writes of data", c)
	assert.InEpsilon(t, got.tracedLog, got.log, share, "%v: writes of the log", c)
	if c.method == "fdatasync" || c.method == "open_datasync" { // else the journal flushes
		flushes := map[string]float64{"write back": got.syncs}[c.cache]
		assert.InDelta(t, flushes, got.tracedFlushes, share*got.syncs, "%v: flushes of the log", c)
	}
	return got.each
}

// run has users work on a database while all that happens on the drives is counted and traced, from
// quiet to quiet.
func (s ioServer) run(t *testing.T, c ioCase) (got ios) {
	t.Helper()
	for _, d := range s.drives {
		file := filepath.Join("/sys/block", d.Name, "queue/write_cache")
		require.NoError(t, os.WriteFile(file, []byte(c.cache), 0))
	}
	db := pgtest.DB(t, s.URL("postgres"))
	db.SetMaxIdleConns(0) // an idle session tells only after 10 s what it did
	// The same work each time: on a copy of the database, with the same seed.
	const work = "work"
	pgtest.Exec(
		t,
		db,
		"DROP DATABASE IF EXISTS "+work+" WITH (FORCE)",
		"CREATE DATABASE "+work+" TEMPLATE "+c.workload,
		"ALTER SYSTEM SET wal_sync_method = "+c.method,
		"SELECT pg_reload_conf()",
	)
	pgtest.Exec(t, db, "CHECKPOINT")
	s.sync(t)
	target := pgtest.Open(t, postgres.Open, s.URL(work))
	defer target.Close()
	w, err := monitor.Observe(
		t.Context(),
		[]store.Database{target},
		0,
		monitor.Options{IOTrace: true},
	)
	require.NoError(t, err)
	defer w.Close()
	if w.IOTrace == nil {
		t.Skip(strings.Join(w.Notes, "; "))
	}
	from := s.settled(t, w)
	before := s.merged(t)
	was := s.traced(t, w)
	start := time.Now()
	out := filepath.Join(t.TempDir(), "record")
	must(
		t,
		quick(
			"drive",
			s.URL(work),
			"--run-time 5s --rate 30/s --seed 7 --verify none -q --out %s",
			out,
		)...)
	pgtest.Exec(t, db, "CHECKPOINT")
	s.sync(t)
	to := s.settled(t, w)
	after := s.merged(t)
	counters := sampling.Table{Rows: []sampling.Row{{Time: start.Add(time.Second)}}}
	for column, v := range to {
		counters.Columns = append(counters.Columns, column)
		counters.Rows[0].Values = append(counters.Rows[0].Values, v-from[column])
	}
	storage, err := sampling.Drives{
		Counters: counters, Machine: w.Machine, From: start, To: start.Add(time.Second),
	}.Storage()
	require.NoError(t, err, "%v", c)
	got.data = storage.Writes
	got.log = storage.LogWrites
	got.syncs = *storage.LogSyncs
	for name, n := range s.traced(t, w) {
		n -= was[name]
		ofLog := len(s.drives) > 1 && strings.HasPrefix(name, s.drives[1].Name+" ")
		switch {
		case strings.HasSuffix(name, " log flush"):
			got.tracedFlushes += n
		case strings.HasSuffix(name, " log write"), ofLog && strings.HasSuffix(name, " write"):
			got.tracedLog += n
		case strings.HasSuffix(name, " write"):
			got.tracedData += n
		}
	}
	got.tracedData -= after[0] - before[0]
	if c.apart {
		got.tracedLog -= after[1] - before[1]
	}
	r := recordOf(t, out)
	got.each = storage.IOPS / float64(r.Windows[0].Counts.Orders)
	return got
}

// sync has the server's drives, and no others, hold all that was written.
func (s ioServer) sync(t *testing.T) {
	t.Helper()
	for _, d := range s.drives {
		d.Sync(t)
	}
}

// merged is how many writes of each drive the kernel merged into others: the tracer counts each,
// the drive does not.
func (s ioServer) merged(t *testing.T) (all []float64) {
	for _, d := range s.drives {
		all = append(all, d.Counts(t).MergedWrites)
	}
	return all
}

// traced are how many I/Os of each kind were traced.
func (s ioServer) traced(t *testing.T, w *monitor.Observer) map[string]float64 {
	t.Helper()
	totals, err := w.IOTrace.Totals()
	require.NoError(t, err)
	all := map[string]float64{}
	for _, d := range totals {
		all[d.Name] = float64(d.Count())
	}
	return all
}

// settled are the figures when nothing happens any longer: the server's processes tell what they
// did once a second.
func (s ioServer) settled(t *testing.T, w *monitor.Observer) (now map[string]float64) {
	t.Helper()
	for was := map[string]float64(nil); now == nil || !maps.Equal(was, now); {
		was = now
		now = s.figures(t, w)
		time.Sleep(1100 * time.Millisecond)
	}
	return now
}

// figures are the running totals that Storage is made of, by the columns for their growth a second.
func (s ioServer) figures(t *testing.T, w *monitor.Observer) map[string]float64 {
	t.Helper()
	columns := map[string]string{
		"disk_reads_total":         sampling.DiskReads,
		"disk_writes_total":        sampling.DiskWrites,
		"disk_read_bytes_total":    sampling.DiskReadBytes,
		"disk_written_bytes_total": sampling.DiskWrittenBytes,
		"database_log_syncs_total": sampling.DatabaseLogSyncs,
		"database_log_bytes_total": sampling.DatabaseLogBytes,
	}
	all := map[string]float64{}
	for _, src := range w.Sources {
		values := make([]float64, len(src.Figures))
		require.NoError(t, src.Read(t.Context(), values))
		for i, f := range src.Figures {
			if column, ok := columns[f.Name]; ok {
				if f.Label == "server" {
					f.Item = ""
				}
				all[sampling.ItemColumn(column, f.Item)] = values[i]
			}
		}
	}
	return all
}

// TestExperimentEndsTracing: I/Os are traced no longer than the experiment's runs go on, though
// its report is served on.
func TestExperimentEndsTracing(t *testing.T) {
	t.Parallel()
	text := "target: " + loaded(t) + "\nruns: 1\nrun-time: 1s\nio-trace: true\n" +
		"factors: {threads: [1, 2]}\n" + noPausesYAML
	file := filepath.Join(t.TempDir(), "traced.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	p := startProgram(t, "experiment", file, "--out", "out", "--serve")
	p.Env = append(os.Environ(), "GOGC=off") // what nobody refers to any longer would be closed
	p.start(t)
	programs := func() (n int) {
		dir := fmt.Sprintf("/proc/%d/fd", p.Process.Pid)
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, f := range files {
			if kind, _ := os.Readlink(filepath.Join(dir, f.Name())); strings.Contains(kind, "bpf") {
				n++
			}
		}
		return n
	}
	p.await(t, "a run", func() bool { return strings.Contains(p.stderr.String(), "running") })
	if strings.Contains(p.stderr.String(), "I/Os are not traced") {
		t.Skip("I/Os cannot be traced here")
	}
	assert.NotZero(t, programs(), "of eBPF, during a run")
	p.await(t, "its end", func() bool {
		return strings.Contains(p.stderr.String(), "are served until this is stopped")
	})
	assert.Zero(t, programs(), "of eBPF, after the last run")
	require.NoError(t, p.Process.Signal(os.Interrupt))
	p.awaitEnd(t)
}
