// Command ds2 is the whole kit: one file per subcommand, nothing but flags, wiring and printing.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), takeArgs(os.Args)[1:], os.Stdout, os.Stderr))
}
