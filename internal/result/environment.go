package result

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"ds2/internal/numbers"
)

// Environment is what a run was measured on, as far as its record knows it. The Spec beside it has
// the dataset, its seed and size, and the version of ds2. Runs of one configuration have the same;
// so have configurations that are compared, but for the fields whose tag mayDiffer says that a
// comparison of storage is about them. The JSON names are those that a reader is told.
type Environment struct {
	ServerVersion []string `json:"server_version" mayDiffer:"history"`
	// of servers with several values, all of them
	Settings []Said `json:"settings" mayDiffer:"history"`
	// that the servers may use of their machines; "the whole machine" where nothing limits them
	ControlGroups []string `json:"control_group"    mayDiffer:"history"`
	System        string   `json:"operating_system" mayDiffer:"history"`
	Kernel        string   `json:"kernel"           mayDiffer:"history"`
	Processor     string   `json:"CPU_model"`
	Processors    string   `json:"CPUs"`
	Memory        string   `json:"memory"`
	FileSystem    string   `json:"file_system"`
	MountOptions  []string `json:"mount_options" mayDiffer:"history"`
	Network       string   `json:"network"` // between ds2 and the servers

	// of a server that Kubernetes runs
	Kubernetes    string   `json:"Kubernetes"`
	StorageClass  string   `json:"storage_class"    mayDiffer:"compare"`
	Provisioner   string   `json:"provisioner"      mayDiffer:"compare,history"`
	ClassSettings []string `json:"class_parameters" mayDiffer:"compare,history"`
	VolumeSize    string   `json:"volume_size"`
	VolumeMode    string   `json:"volume_mode"      mayDiffer:"compare"`
	Node          string   `json:"node"             mayDiffer:"compare,history"`
	InstanceType  string   `json:"instance_type"    mayDiffer:"history"`

	// Others are the settings besides that are not at their defaults; nil: unknown.
	Others []Said `json:"-"`

	Machine string `json:"machine"    mayDiffer:"compare"`
	// model, size, scheduler and cache
	Drives []string `json:"drives" mayDiffer:"compare,history"`
}

// EnvironmentOf is that of a run, as far as its record knows it.
func EnvironmentOf(s Summary) (e Environment) {
	var settings, others []map[string]string
	for _, server := range s.Servers {
		// "PostgreSQL 17.2 on x86_64-pc-linux-gnu, compiled by gcc": the same server, whoever built
		// it.
		version, _, _ := strings.Cut(server.Version, " on ")
		e.ServerVersion = append(e.ServerVersion, version)
		settings = append(settings, server.Settings)
		if server.OtherSettings != nil {
			besides := maps.Clone(server.OtherSettings)
			maps.DeleteFunc(besides, func(name, _ string) bool {
				_, is := server.Settings[name]
				return is
			})
			others = append(others, besides)
		}
		limited := server.Container
		switch {
		case limited != nil:
			text := fmt.Sprintf("%g CPUs, %s", limited.Processors, gigabytes(limited.MemoryBytes))
			e.ControlGroups = append(e.ControlGroups, text)
		case s.Local: // else it was not looked at
			e.ControlGroups = append(e.ControlGroups, "the whole machine")
		}
	}
	e.Settings = saidOf(settings)
	if len(others) > 0 && len(others) == len(s.Servers) {
		e.Others = append([]Said{}, saidOf(others)...)
	}
	if len(s.Servers) > 0 {
		e.Network = "another machine"
		if s.Local {
			e.Network = "the same machine"
		}
	}
	if c := s.Cluster; c != nil {
		e.describeCluster(*c)
	}
	m := s.Machine
	if m == nil {
		return e
	}
	e.Machine = m.Hostname
	e.System = m.System
	e.Kernel = m.Kernel
	e.Processor = m.Processor
	if m.Processors > 0 {
		e.Processors = fmt.Sprint(m.Processors)
	}
	e.Memory = gigabytes(m.MemoryBytes)
	if f := m.FileSystem; f != nil {
		e.FileSystem = f.Type
		e.MountOptions = f.Options
	}
	for _, d := range m.Drives {
		parts := slices.DeleteFunc(
			[]string{d.Model, gigabytes(d.Bytes), d.Scheduler, d.WriteCache},
			func(part string) bool { return part == "" }) // unknown
		e.Drives = append(e.Drives, d.Name+" ("+strings.Join(parts, ", ")+")")
	}
	return e
}

func (e *Environment) describeCluster(c Cluster) {
	e.Kubernetes = c.Version
	e.StorageClass = c.StorageClass
	e.Provisioner = c.Provisioner
	for _, name := range slices.Sorted(maps.Keys(c.Parameters)) {
		e.ClassSettings = append(e.ClassSettings, name+"="+c.Parameters[name])
	}
	e.VolumeSize = c.VolumeSize
	e.VolumeMode = strings.Join(append(slices.Clone(c.AccessModes), c.VolumeMode), ", ")
	e.Node = c.Node
	e.InstanceType = c.InstanceType
}

// ofState ends the names of what a server tells beside its settings and every run changes.
var ofState = regexp.MustCompile(`(used|log|free) bytes$`)

// saidOf are the settings of servers, by name.
func saidOf(servers []map[string]string) (all []Said) {
	values := map[string][]string{}
	for _, settings := range servers {
		for name, value := range settings {
			if !ofState.MatchString(name) {
				values[name] = AddNew(values[name], value)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		// A setting whose value is empty is told from one that is not known.
		text := cmp.Or(strings.Join(values[name], ", "), "''")
		all = append(all, Said{Name: name, Value: text})
	}
	return all
}

// AddNew adds the values that are not there yet, in their order.
func AddNew[T comparable](values []T, more ...T) []T {
	for _, value := range more {
		if !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return values
}

// gigabytes is a size to the digit in which two machines of one kind do not differ: the memory that
// a kernel reports lacks what firmware and kernel took for themselves, some MB more or less from
// one boot to the next. Empty: unknown.
func gigabytes(bytes int64) string {
	if bytes <= 0 {
		return ""
	}
	digits := 0
	if bytes < 10e9 {
		digits = 1
	}
	return numbers.Decimals(float64(bytes)/1e9, digits) + " GB"
}

// Setup is what a run was to be, and what it was measured on.
type Setup struct {
	Spec        Spec
	Environment Environment
}

// Differing is a parameter in which setups differ.
type Differing struct {
	Name   string   `json:"name"`
	Values []string `json:"values"` // of each setup; empty: unknown
	// May says that a comparison of storage is about it, Declared that the user meant it to differ.
	May      bool `json:"may_differ,omitempty"`
	Declared bool `json:"declared,omitempty"`

	follows string
}

// Between says how a parameter that ought to be alike differs between two setups; empty: it does
// not, as far as both know it.
func (d Differing) Between(one, other int) string {
	a := d.Values[one]
	b := d.Values[other]
	if a == b || a == "" || b == "" || d.May {
		return ""
	}
	return fmt.Sprintf("%s %s and %s", d.Name, a, b)
}

// FindDiffering finds in what setups differ, first what was asked for, in the order of the fields,
// and which of it may differ for a use. A parameter that one of them does not know does not differ.
func FindDiffering(all []Setup, use Use) (differing []Differing) {
	alike := map[string]bool{} // what the use asks to be so
	var specs, environments, others [][]Said
	for _, setup := range all {
		spec := parameters(setup.Spec, use)
		for _, said := range append(parameters(setup.Environment, use), spec...) {
			alike[said.Name] = true
		}
		specs = append(specs, append(spec, parameters(setup.Spec, Compare)...))
		environments = append(environments, parameters(setup.Environment, ""))
		others = append(others, setup.Environment.Others)
	}
	// What was not asked for was not done; what a record lacks of the machine is unknown; and a
	// setting that a server does not list is at its default.
	differing = append(findDiffering(specs, "none"), findDiffering(environments, "")...)
	for i, d := range differing {
		differing[i].May = !alike[d.Name]
	}
	for _, d := range findDiffering(others, "default") {
		d.May = use == History // as settings
		differing = append(differing, d)
	}
	// One change is told once: of the size of a dataset and the rows that follow from it, the size.
	names := map[string]bool{}
	for _, d := range differing {
		names[d.Name] = true
	}
	return slices.DeleteFunc(differing, func(d Differing) bool { return names[d.follows] })
}

// plainName is a parameter's name however a user writes it: as a flag, a setting or in words.
func plainName(name string) string {
	return strings.NewReplacer("-", " ", "_", " ").Replace(strings.ToLower(name))
}

// Declares says that a subject names a parameter.
func Declares(subject []string, name string) bool {
	return slices.ContainsFunc(subject,
		func(s string) bool { return plainName(s) == plainName(name) })
}

// Knows says that a setup has a parameter of a name.
func (s Setup) Knows(name string) bool {
	all := slices.Concat(parameters(s.Environment, ""), s.Environment.Others,
		parameters(s.Spec, ""))
	return slices.ContainsFunc(all, func(said Said) bool {
		return plainName(said.Name) == plainName(name)
	})
}

// mostListed is how many things a sentence names of many.
const mostListed = 3

// NameSome lists the first three of texts, and says how many more there are.
func NameSome(texts []string, separator string) string {
	list := strings.Join(texts[:min(len(texts), mostListed)], separator)
	if more := len(texts) - mostListed; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// findDiffering finds the parameters that differ among the lists of several setups; absent stands
// for one that a list does not have, or has without a value. Empty is unknown, as is all of a list
// that is nil, and what is unknown differs from nothing.
func findDiffering(lists [][]Said, absent string) (differing []Differing) {
	seen := map[string]bool{}
	for _, said := range slices.Concat(lists...) {
		if seen[said.Name] {
			continue
		}
		seen[said.Name] = true
		d := Differing{Name: said.Name, follows: said.Follows}
		var known []string
		for _, list := range lists {
			i := slices.IndexFunc(list, func(one Said) bool { return one.Name == said.Name })
			value := ""
			switch {
			case i >= 0:
				value = cmp.Or(list[i].Value, absent)
			case list != nil:
				value = absent
			}
			d.Values = append(d.Values, value)
			if value != "" {
				known = AddNew(known, value)
			}
		}
		if len(known) > 1 {
			differing = append(differing, d)
		}
	}
	return differing
}
