// Half of the certificates that SQL Server 2016 to 2022 makes for itself have a negative serial
// number.
//go:debug x509negativeserial=1

// Command ds2 is the whole kit: one file per subcommand, nothing but flags, wiring and printing.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), takeArgs(os.Args)[1:], os.Stdout, os.Stderr))
}
