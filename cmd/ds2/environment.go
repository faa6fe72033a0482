package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// readEnvironment sets each flag that was not given from its variable: DS2_TARGET for --target, DS2_N_THREADS and
// DS2_THREADS for --threads. --config-file has none: what a file says counts in its place among the arguments.
func readEnvironment(flags *pflag.FlagSet) error {
	var err error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == configFileFlag || f.Name == "help" || err != nil {
			return
		}
		for _, name := range append([]string{f.Name}, otherNames(f.Name)...) {
			variable := "DS2_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
			value, ok := os.LookupEnv(variable)
			if !ok {
				continue
			}
			if bad := flags.Set(f.Name, value); bad != nil {
				err = &exitError{exitUsage, fmt.Errorf("variable %s: %w", variable, flagText(bad))}
			}
			return
		}
	})
	return err
}
