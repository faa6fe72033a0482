package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the Makefile (-ldflags "-X main.version=…").
var version string

// kitVersion is the version that goes into records and ds2_info: the Makefile's, else the one that
// Go stamped.
func kitVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" &&
		info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// versionLine is what ds2 version and ds2 --version print.
func versionLine() string {
	return fmt.Sprintf("ds2 %s (%s, %s/%s)\n", kitVersion(), runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
}

func newVersionCommand() *cobra.Command {
	return newCommand("version", func(cmd *cobra.Command, _ []string) error {
		_, err := fmt.Fprint(cmd.OutOrStdout(), versionLine())
		return err
	})
}
