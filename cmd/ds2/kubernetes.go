package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"ds2/internal/kubernetes"
	"ds2/internal/store/postgres"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2"
	"ds2/schema"
)

// kubernetesFlags say what a Job on a cluster compares.
type kubernetesFlags struct {
	setup kubernetes.Setup
	bench benchFlags
	own   experimentSetup
	keys  *pflag.FlagSet // of the experiment's file
	volumeFlags
}

// experimentKeys are the flags of ds2 kubernetes that are keys of the experiment's file.
const experimentKeys = "size threads profile warmup-time run-time settle idle cooldown limit window runs until"

func newKubernetesCommand() *cobra.Command {
	var f kubernetesFlags
	cmd := newCommand("kubernetes", f.run)
	flags := cmd.Flags()
	s := &f.setup
	declare(flags, "kubernetes", fields{
		classFlag:        &s.Classes,
		"name":           &s.Name,
		"namespace":      &s.Namespace,
		"image":          &s.Image,
		"pull-secret":    &s.PullSecret,
		"postgres-image": &s.Server.Image,
		"postgres-user":  &s.Server.User,
		"setting":        &s.Server.Settings,
		"server-cpus":    &s.Server.CPUs,
		"server-memory":  byteSize(&s.Server.Memory),
		"volume-size":    byteSize(&s.Server.Volume),
		"node":           &s.Server.Nodes,
		"read-cluster":   &s.ReadCluster,
		"check":          &s.Check,
	})
	f.volumeFlags.add(flags)
	// They are read as a bench reads them, so that what it would refuse in a pod is refused here.
	f.keys = newFlagSet(func(flags *pflag.FlagSet) { f.bench.add(flags); f.own.add(flags) })
	preset(f.keys, "runs=6")
	for name := range strings.FieldsSeq(experimentKeys) {
		flags.AddFlag(f.keys.Lookup(name))
	}
	flags.Lookup("size").Usage = "size of the dataset that is loaded, such as W or 80GB"
	return cmd
}

// objectName is a name that the cluster takes, with room for that of a configuration.
var objectName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

// className is what the cluster takes as the name of a storage class.
var className = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)

// checkNames refuses what the cluster would only refuse in a pod.
func (f *kubernetesFlags) checkNames() error {
	s := &f.setup
	if !objectName.MatchString(s.Name) {
		return usageError("--name: %q must be at most 40 small letters, digits and hyphens, and begin and end with a letter or digit", s.Name)
	}
	for _, class := range s.Classes {
		if !className.MatchString(class) {
			return usageError("--storage-class: %q is no name of a class: kubectl get storageclass lists them", class)
		}
	}
	for _, setting := range s.Server.Settings {
		if name, _, given := strings.Cut(setting, "="); name == "" || !given {
			return usageError("--setting: %q is not like shared_buffers=4GB", setting)
		}
	}
	return nil
}

// leastBeside is what a volume needs beside the data, for its log above all.
const leastBeside = 256e6

// leastVolume is the room that the data of a dataset and their log take, in bytes.
func leastVolume(dataset workload.Dataset) int64 {
	return schema.ExpectedBytes(postgres.Engine, dataset.Params(schema.Params{})) + leastBeside
}

// sizeVolume gives the claim a size that the dataset fits into, and refuses another.
func (f *kubernetesFlags) sizeVolume(dataset workload.Dataset) error {
	const gigabyte = 1e9
	volume := &f.setup.Server.Volume
	least := leastVolume(dataset)
	if *volume == 0 {
		// The data, its log and the growth of long runs; what a claim gets beyond costs no time.
		*volume = (3*(least-leastBeside)/gigabyte + 8) * gigabyte
	}
	if *volume < least {
		return usageError("--volume-size: a database of size %s and its log need %s or more",
			f.bench.size, bytesText(least))
	}
	return nil
}

// run prints the manifests. The experiment's file that goes into them is parsed as the Job will
// parse it, so that a mistake shows here and not in a pod's log.
func (f *kubernetesFlags) run(cmd *cobra.Command, _ []string) error {
	s := &f.setup
	switch {
	case len(s.Classes) == 0:
		return usageError("--storage-class is missing: kubectl get storageclass lists them")
	case f.bench.size == "":
		return usageError("--size is missing: a dataset larger than --server-memory, such as W")
	}
	l := loadFlags{workload: ds2.Name, size: f.bench.size, flags: f.keys}
	if err := cmp.Or(f.checkNames(), l.dataset()); err != nil {
		return err
	}
	if err := f.sizeVolume(l.options.Dataset); err != nil {
		return err
	}
	// Connections beyond the users' are for the kit's own and for a look by hand.
	s.Server.Settings = append([]string{ // what is given later counts
		fmt.Sprintf("max_connections=%d", f.bench.Threads+50),
		// and the server times its reads, writes and log syncs
		"track_io_timing=on", "track_wal_io_timing=on",
	}, s.Server.Settings...)
	var err error
	if s.Experiment, err = f.experiment(); err != nil {
		return err
	}
	_, err = parseExperiment(cmd.Context(), "the experiment", []byte(s.Experiment))
	if err != nil {
		return err
	}
	if err := s.PrintManifests(cmd.OutOrStdout()); err != nil {
		return err
	}
	return f.tellNext(cmd.ErrOrStderr())
}

// experiment is the file of the Job's experiment.
func (f *kubernetesFlags) experiment() (string, error) {
	// A run is judged by the memory that its server's pod may use, not by that of the node.
	keys := map[string]any{
		"server-memory": fmt.Sprintf("%dB", f.setup.Server.Memory),
		"volumes":       f.volumes,
	}
	if f.volumes == volumesFresh {
		keys["practice"] = 0 // each server's first run is its only one
	}
	for name := range strings.FieldsSeq(experimentKeys) {
		flag := f.keys.Lookup(name)
		if several, ok := flag.Value.(pflag.SliceValue); ok && flag.Changed {
			keys[name] = several.GetSlice()
		} else if flag.Changed {
			keys[name] = flag.Value.String()
		}
	}
	configurations := map[string]any{}
	for _, class := range f.setup.Classes {
		if configurations[class] != nil {
			return "", usageError("--storage-class: %s is named twice", class)
		}
		configurations[class] = map[string]string{classFlag: class}
	}
	keys["configurations"] = configurations
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	err := errors.Join(encoder.Encode(keys), encoder.Close())
	return text.String(), err
}

// tellNext tells the commands that come next.
func (f *kubernetesFlags) tellNext(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) // its columns are parted by tabs
	_, port, _ := strings.Cut(defaultMetricsAddr, ":")
	err := templates.ExecuteTemplate(table, "next.tmpl", struct {
		kubernetes.Setup
		Port string
	}{f.setup, port})
	return cmp.Or(err, table.Flush())
}
