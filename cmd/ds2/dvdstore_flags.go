package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// dvdStoreFlags are parameters of DVD Store's own driver that mean little here or nothing. They are accepted wherever users run, so
// that a configuration file that its scripts wrote works unchanged.
type dvdStoreFlags struct {
	detailed yesValue // matters to the lines of -o ds2 only
	pages    []string // that were given
	hosts    []string // as name=value
}

func (f *dvdStoreFlags) add(flags *pflag.FlagSet) {
	flags.Var(&f.detailed, "detailed-view", "with -o ds2: figures per target too, Y or N")
	flags.Lookup("detailed-view").NoOptDefVal = "Y"
	for _, name := range []string{"virt-dir", "page-type"} {
		flags.Func(name, "DVD Store's, for its web pages: ignored", func(string) error {
			f.pages = append(f.pages, strings.ReplaceAll(name, "-", "_"))
			return nil
		})
	}
	for _, name := range []string{"linux-perf-host", "windows-perf-host"} {
		flags.Func(name, "DVD Store's, for its counters: ignored", func(host string) error {
			if host != "" && host != "none" {
				f.hosts = append(f.hosts, strings.ReplaceAll(name, "-", "_")+"="+host)
			}
			return nil
		})
	}
}

// tell says which were given, and what takes their place.
func (f *dvdStoreFlags) tell(w io.Writer) {
	if len(f.pages) > 0 {
		slices.Sort(f.pages)
		fmt.Fprintf(w, "note: %s ignored: ds2 calls the database, not DVD Store's web pages\n", strings.Join(slices.Compact(f.pages), " and "))
	}
	for _, host := range f.hosts {
		_, name, _ := strings.Cut(host, "=")
		name, _, _ = strings.Cut(name, ":")
		fmt.Fprintf(w, "note: %s ignored: ds2 reads the counters of its own machine; those of another by --exporter http://%s:9100/metrics or --prometheus\n", host, name)
	}
}
