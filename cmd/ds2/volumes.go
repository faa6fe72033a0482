package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"

	"ds2/internal/experiment"
	"ds2/internal/kubernetes"
	"ds2/internal/monitor"
	"ds2/internal/preflight"
	"ds2/internal/result"
	"ds2/internal/runs"
	"ds2/internal/sampling"
	"ds2/internal/upkeep"
	"ds2/internal/workload/ds2"
)

// volumeFlags have a configuration run on a storage class of Kubernetes, in the place of a target.
// They are keys of an experiment's file only.
type volumeFlags struct {
	class   string
	volumes string

	server *kubernetes.Server
	unused bool // the server was started and has had no run yet
}

// volumesFresh has each run get a new volume; else those of a configuration are reset.
const volumesFresh = "fresh"

const classFlag = "storage-class"

func (f *volumeFlags) add(flags *pflag.FlagSet) {
	declare(flags, "volumes", fields{classFlag: &f.class, "volumes": &f.volumes})
}

// add declares the flags that are keys of a configuration.
func (c *variant) add(flags *pflag.FlagSet) {
	c.bench.add(flags)
	c.volume.add(flags)
}

// checkVolume judges what a storage class takes, and has the other flags be judged as those of a
// server that is not started yet.
func (c *variant) checkVolume() error {
	switch {
	case c.volume.class == "":
		return nil
	case c.bench.target != "":
		return usageError("--target: a server is started on the storage class: leave it out")
	case c.bench.size == "":
		return usageError("--size is missing: a dataset is loaded onto the storage class")
	}
	c.bench.target = "postgres://127.0.0.1/ds2"
	if c.volume.volumes == volumesFresh {
		c.bench.restore.Way = upkeep.RestoreVolume
	}
	return nil
}

// connectCluster connects to the cluster that this process is a pod of, where a configuration needs
// it. What the configurations got of it is removed by done.
func (f *experimentFile) connectCluster(stderr io.Writer) (done func() error, err error) {
	done = func() error { return nil }
	for _, c := range f.configurations {
		if c.volume.class == "" {
			continue
		}
		if f.cluster == nil {
			if os.Getenv(kubernetes.JobUIDVariable) == "" {
				return done, f.of(c, usageError(
					"--"+classFlag+": this is no Job of Kubernetes: ds2 kubernetes prints one"))
			}
			f.cluster, err = kubernetes.Connect(kubernetes.Job{
				Namespace: os.Getenv(kubernetes.NamespaceVariable),
				Name:      os.Getenv(kubernetes.JobNameVariable),
				UID:       os.Getenv(kubernetes.JobUIDVariable),
				Node:      os.Getenv(kubernetes.NodeVariable),
			}, func(format string, args ...any) { warn(stderr, format, args...) })
			if err != nil {
				return done, err
			}
			done = f.cluster.Close
		}
		c.volume.server = f.cluster.AddServer(c.Dir, c.volume.class)
	}
	return done, nil
}

// startEmpty starts a server for the configuration on a new volume that its dataset fits into.
func (c *variant) startEmpty(ctx context.Context) (l loadFlags, err error) {
	if err := c.volume.server.Start(ctx); err != nil {
		return l, err
	}
	// The dataset is as the bench's flags have it, in as many sessions as the server's memory
	// bears.
	l = loadFlags{
		workload: ds2.Name, size: c.bench.size, words: c.bench.words, quiet: true,
		flags:   new(pflag.FlagSet), // none that another workload has
		observe: monitor.Options{ServerMemory: c.bench.observe.ServerMemory},
	}
	if err := l.dataset(); err != nil {
		return l, err
	}
	err = checkRoom(ctx, c.volume.server.Exporter(), leastVolume(l.options.Dataset))
	return l, err
}

// checkRoom refuses a volume with less room than a load takes, which may fill it only after hours.
// Where the exporter does not tell, the load does.
func checkRoom(ctx context.Context, exporter string, least int64) error {
	e, err := sampling.OpenExporter(ctx, exporter)
	if err != nil {
		return nil
	}
	if free, _, known := e.Free(kubernetes.ClaimDir); known && free < least {
		return fmt.Errorf("the volume has %s free, and the database and its log take %s: "+
			"give a larger --volume-size", bytesText(free), bytesText(least))
	}
	return nil
}

// startServer starts a server for the configuration on a new volume, and loads its dataset.
func (c *variant) startServer(i *interrupts) error {
	fmt.Fprintf(i.stderr, "%s: a server starts on a new volume of storage class %s\n",
		c.Name, c.volume.class)
	l, err := c.startEmpty(i.Soft)
	if err != nil {
		return err
	}
	c.bench.target = c.volume.server.URL("ds2")
	c.bench.observe.Exporters = []string{c.volume.server.Exporter()}
	stores, err := c.bench.open()
	if err != nil {
		return err
	}
	defer closeStores(stores)
	c.volume.unused = true
	if _, err = l.load(i, stores[0]); err != nil {
		err = errors.Join(err, c.volume.server.FindLoss(i.Hard))
	}
	return err
}

// onVolumes has the runs of a configuration be made on the servers of its storage class.
func (c *variant) onVolumes(i *interrupts, p *experiment.Bench) {
	v := &c.volume
	fresh := v.volumes == volumesFresh
	conduct := c.bench.output.conduct(i, io.Discard)
	if fresh {
		p.Ready = nil
		p.Verify = nil // nothing is left to be audited
		p.Restore = func(context.Context, context.Context) error {
			if v.unused {
				return nil
			}
			return c.startServer(i)
		}
	}
	p.Run = func(dir string, place runs.Place) (s result.Summary, err error) {
		v.unused = false
		run, done, err := c.observeServer(i.Soft)
		defer done()
		if err == nil {
			var end func()
			// A server that the cluster takes away during a run voids it, as a lost lock does
			// elsewhere.
			conduct.Locked, end = v.server.WatchPod(i.Hard)
			s, err = conduct.BenchRun(i.Stop, run, dir, place)
			end()
		}
		if fresh {
			if left := v.server.Remove(); left != nil { // the next start tries again
				warn(i.stderr, "%s: %v", c.Name, left)
			}
		}
		return s, err
	}
}

// observeServer are the options of a run on the server that there is now.
func (c *variant) observeServer(ctx context.Context) (run runs.Options, done func(), err error) {
	run = c.options
	run.Observer = nil
	if run.Databases, err = c.bench.open(); err != nil {
		return run, func() {}, err
	}
	done = func() { run.Observer.Close(); closeStores(run.Databases) }
	if run.Plan, err = c.bench.plan(ctx, run.Databases); err == nil {
		err = c.bench.observed(ctx, &checklist{w: io.Discard, quiet: true}, &run)
	}
	run.Cluster = new(c.volume.server.DescribeCluster(ctx))
	return run, done, err
}

// checkClass starts a server on the storage class of a configuration, as a run does. It stays until
// those of all classes were started, as they all are at the beginning of the experiment.
func (l *checklist) checkClass(ctx context.Context, c *variant) {
	class := c.volume.class
	begin := time.Now()
	_, err := c.startEmpty(ctx)
	if err == nil {
		k := c.volume.server.DescribeCluster(ctx)
		l.note(preflight.ClassReady, class, fmt.Sprintf(
			"a server was ready after %s on node %s, volume %s of %s",
			time.Since(begin).Round(time.Second), k.Node, k.Volume, k.VolumeSize))
		if f := result.NewFinding(result.SameNode, k.Node); k.Node == k.DriverNode {
			l.note(preflight.SameNode, class, f.Words())
		}
	}
	l.step(preflight.ClassFails, class, err)
}
