package result

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/topology"
)

// measuredOn is a run whose record knows all of its environment.
func measuredOn() Summary {
	return Summary{
		Spec: Spec{Size: "S", Threads: 2, DataSeeds: []uint64{1}, KitVersion: "v1"},
		Happened: Happened{
			Local: true,
			Servers: []topology.Server{{
				Version:       "PostgreSQL 15.18 on x86_64-pc-linux-gnu, compiled by gcc",
				Settings:      map[string]string{"shared_buffers": "64MB", "standbys": ""},
				OtherSettings: map[string]string{"log_statement": "ddl"},
			}},
			Cluster: &Cluster{
				Version: "v1.33.4", StorageClass: "gp3", Provisioner: "ebs.csi.aws.com",
				Parameters: map[string]string{"iops": "3000", "type": "gp3"}, VolumeSize: "98G",
				AccessModes: []string{"ReadWriteOnce"}, VolumeMode: "Filesystem",
				Node: "worker-1", InstanceType: "m5.large",
			},
			Machine: &topology.Machine{
				Hostname: "db1", System: "Debian 12", Kernel: "6.1", Processor: "Xeon",
				Processors: 2, MemoryBytes: 64e9,
				FileSystem: &topology.FileSystem{Type: "ext4", Options: []string{"noatime", "rw"}},
				Drives: []topology.Drive{
					{
						Name:       "sda",
						Model:      "X1",
						Bytes:      1e12,
						Scheduler:  "none",
						WriteCache: "write back",
					},
				},
			},
		},
	}
}

// TestEnvironment: each thing that a record knows of what was measured on is found where it
// differs, what is unknown does not differ, and only what storage is compared by may.
func TestEnvironment(t *testing.T) {
	changes := map[string]struct {
		change func(*Summary)
		want   string
	}{
		"ServerVersion": {func(s *Summary) {
			s.Servers[0].Version = "PostgreSQL 18.3 on x86_64-pc-linux-gnu, compiled by clang"
		}, "server version PostgreSQL 15.18, PostgreSQL 18.3"},
		"Settings": {func(s *Summary) {
			s.Servers[0].Settings = map[string]string{"shared_buffers": "512MB", "standbys": "*"}
		}, "shared_buffers 64MB, 512MB; standbys '', *"},
		"Others": {func(s *Summary) {
			s.Servers[0].OtherSettings = map[string]string{"shared_buffers": "of Settings"}
		}, "log_statement ddl, default"},
		"ControlGroups": {func(s *Summary) {
			s.Servers[0].Container = &topology.Container{Processors: 2, MemoryBytes: 8e9}
		}, "control group the whole machine, 2 CPUs, 8.0 GB"},
		"System": {
			func(s *Summary) { s.Machine.System = "Debian 13" },
			"operating system Debian 12, Debian 13",
		},
		"Kernel":     {func(s *Summary) { s.Machine.Kernel = "6.12" }, "kernel 6.1, 6.12"},
		"Processor":  {func(s *Summary) { s.Machine.Processor = "Epyc" }, "CPU model Xeon, Epyc"},
		"Processors": {func(s *Summary) { s.Machine.Processors = 64 }, "CPUs 2, 64"},
		"Memory":     {func(s *Summary) { s.Machine.MemoryBytes = 256e9 }, "memory 64 GB, 256 GB"},
		"FileSystem": {
			func(s *Summary) { s.Machine.FileSystem.Type = "xfs" },
			"file system ext4, xfs",
		},
		"MountOptions": {func(s *Summary) {
			s.Machine.FileSystem.Options = []string{"rw"}
		}, "mount options noatime, rw, rw"},
		"Network": {
			func(s *Summary) { s.Local = false },
			"network the same machine, another machine",
		},
		"Machine": {func(s *Summary) { s.Machine.Hostname = "db2" }, "machine db1, db2 (may)"},
		"Drives": {func(s *Summary) {
			s.Machine.Drives[0].Scheduler = "mq-deadline"
		}, "drives sda (X1, 1,000 GB, none, write back), sda (X1, 1,000 GB, mq-deadline, write back) (may)"},
		"Kubernetes": {
			func(s *Summary) { s.Cluster.Version = "v1.34.0" }, "Kubernetes v1.33.4, v1.34.0",
		},
		"StorageClass": {
			func(s *Summary) { s.Cluster.StorageClass = "io2" },
			"storage class gp3, io2 (may)",
		},
		"Provisioner": {
			func(s *Summary) { s.Cluster.Provisioner = "local" },
			"provisioner ebs.csi.aws.com, local (may)",
		},
		"ClassSettings": {
			func(s *Summary) { s.Cluster.Parameters = map[string]string{"iops": "9000"} },
			"class parameters iops=3000, type=gp3, iops=9000 (may)",
		},
		"VolumeSize": {func(s *Summary) { s.Cluster.VolumeSize = "99G" }, "volume size 98G, 99G"},
		"VolumeMode": {
			func(s *Summary) { s.Cluster.AccessModes = []string{"ReadWriteOncePod"} },
			"volume mode ReadWriteOnce, Filesystem, ReadWriteOncePod, Filesystem (may)",
		},
		"Node": {func(s *Summary) { s.Cluster.Node = "worker-2" }, "node worker-1, worker-2 (may)"},
		"InstanceType": {
			func(s *Summary) { s.Cluster.InstanceType = "m5.xlarge" },
			"instance type m5.large, m5.xlarge",
		},
		"no cluster": {func(s *Summary) { s.Cluster = nil }, ""},
		"size":       {func(s *Summary) { s.Size = "50MB" }, "size S, 50MB"},
		"follow": {
			func(s *Summary) { s.InWords = []Said{{Name: "customers", Value: "9", Follows: "size"}}; s.Size = "M" },
			"size S, M",
		},
		"seed":  {func(s *Summary) { s.DataSeeds = []uint64{2} }, "data seeds 1, 2"},
		"ds2":   {func(s *Summary) { s.KitVersion = "v2" }, "kit version v1, v2"},
		"twice": {func(s *Summary) { s.Servers = append(s.Servers, s.Servers[0]) }, ""},
		"nothing known": {func(s *Summary) {
			s.Servers = nil
			s.Machine = nil
			s.Local = false
		}, ""},
		"settings not asked": {func(s *Summary) { s.Servers[0].OtherSettings = nil }, ""},
		"memory of a twin":   {func(s *Summary) { s.Machine.MemoryBytes += 4096 }, ""},
	}
	for field := range reflect.TypeFor[Environment]().Fields() {
		assert.Contains(t, changes, field.Name, "a field that no case changes")
	}
	setup := func(s Summary) Setup { return Setup{s.Spec, EnvironmentOf(s)} }
	for name, c := range changes {
		other := measuredOn()
		c.change(&other)
		var got []string
		for _, d := range FindDiffering([]Setup{setup(measuredOn()), setup(other)}, Compare) {
			text := d.Name + " " + strings.Join(d.Values, ", ")
			if d.May {
				text += " (may)"
			}
			got = append(got, text)
		}
		assert.Equal(t, c.want, strings.Join(got, "; "), name)
	}
	known := setup(measuredOn())
	for _, name := range []string{"shared-buffers", "SHARED_BUFFERS", "log_statement", "size", "run-time", "kernel"} {
		assert.True(t, known.Knows(name), name)
	}
	assert.False(t, known.Knows("sharedbuffers"))
}
