package experiment

import (
	"maps"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"ds2/internal/result"
	"ds2/internal/store"
)

// bottleneck makes a run of some seconds and gives what held it back.
func bottleneck(t *testing.T, s store.Store, change func(*Options)) *result.Bottleneck {
	t.Helper()
	o := options(t, s)
	o.Driver.Threads = 16
	change(&o)
	var err error
	if o.Observer, err = Observe(t.Context(), o.Targets, 0, Observing{}); err != nil {
		t.Fatal(err)
	}
	run, err := Begin(o)
	if err != nil {
		t.Fatal(err)
	}
	summary, err := run.Drive(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if summary.Bottleneck == nil {
		t.Fatal("the run tells no bottleneck")
	}
	return summary.Bottleneck
}

// besides is the bottleneck that a run would have had on a machine whose processors have nothing else to do than its
// orders: other tests run beside this one.
func besides(b *result.Bottleneck) string {
	f := maps.Clone(b.Figures)
	delete(f, "cpu.busy_ratio")
	delete(f, "client.busy_ratio")
	what, _ := judge(f)
	return what
}

// TestBottlenecks holds real runs back in one way after the other, and finds what it was.
func TestBottlenecks(t *testing.T) {
	if testing.Short() {
		t.Skip("drives for more than half a minute")
	}
	f := newFaulty(t)
	t.Run(Client, func(t *testing.T) {
		b := bottleneck(t, f.store, func(o *Options) { o.Driver.Think = 2 * time.Second })
		if besides(b) != Client || b.Figures["users.in_operations"] > 0.5 {
			t.Errorf("users that think for two seconds: %+v", b)
		}
	})
	t.Run(Network, func(t *testing.T) {
		if _, err := f.proxy.Toxics.AddToxicJson(strings.NewReader(`{"name": "far", "type": "latency", "stream": "downstream", "attributes": {"latency": 50}}`)); err != nil {
			t.Fatal(err)
		}
		defer f.proxy.Toxics.RemoveToxic(t.Context(), "far")
		b := bottleneck(t, f.store, func(*Options) {})
		if besides(b) != Network || b.Figures["network.round_trip_seconds"] < 0.05 {
			t.Errorf("a server 50 ms away: %+v", b)
		}
	})
	t.Run(Storage, func(t *testing.T) {
		s, slow := slowDrive(t, f.db)
		slow()
		b := bottleneck(t, s, func(*Options) {})
		if besides(b) != Storage {
			t.Errorf("reads take 5 ms and flushes 20 ms: %+v", b)
		}
	})
	t.Run(Locks, func(t *testing.T) {
		// All buy of the same ten products, and a commit takes 20 ms, in which it holds its rows.
		for _, setting := range []string{"commit_delay = 20000", "commit_siblings = 0"} {
			if _, err := f.db.ExecContext(t.Context(), "ALTER SYSTEM SET "+setting); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.db.ExecContext(t.Context(), "SELECT pg_reload_conf()"); err != nil {
			t.Fatal(err)
		}
		b := bottleneck(t, f.store, func(o *Options) { o.Driver.Workload.Size.Products = 10 })
		if besides(b) != Locks {
			t.Errorf("16 users who buy the same products: %+v", b)
		}
	})
	t.Run(CPU, func(t *testing.T) {
		for range runtime.NumCPU() {
			burner := exec.Command("sh", "-c", "while :; do :; done")
			if err := burner.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				burner.Process.Kill()
				burner.Wait()
			}()
		}
		b := bottleneck(t, f.store, func(*Options) {})
		if busy := b.Figures["cpu.busy_ratio"]; busy < fullProcessors {
			t.Skipf("this machine's processors are not this process's to fill: they are %.0f %% busy", 100*busy)
		}
		if b.What != CPU {
			t.Errorf("full processors: %+v", b)
		}
	})
}
