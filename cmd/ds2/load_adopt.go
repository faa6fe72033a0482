package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/store"
	"ds2/internal/workload"
	"ds2/internal/workload/ds2"
)

// adoptFlags are those of ds2 load --adopt.
type adoptFlags struct {
	adopt, dryRun bool
}

func (f *adoptFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.adopt, "adopt", false, "take over a database that DVD Store's own scripts filled")
	flags.BoolVar(&f.dryRun, "dry-run", false, "with --adopt, print what was found and would be added, "+
		"and change nothing")
}

// ofAdopting are the flags of ds2 load that --adopt goes with.
var ofAdopting = []string{
	"adopt", "dry-run", "target", "engine", "database-name", "words", "password-command", "quiet",
	"driver-login", "driver-password-file",
}

func (f *adoptFlags) check(flags *pflag.FlagSet) (err error) {
	if !f.adopt {
		if f.dryRun {
			return usageError("--dry-run needs --adopt")
		}
		return nil
	}
	flags.Visit(func(other *pflag.Flag) {
		if err == nil && !slices.Contains(ofAdopting, other.Name) {
			err = usageError("--%s: it does not go with --adopt, which takes the database as it is", other.Name)
		}
	})
	return err
}

// adoptAll takes every target over, one after the other, or says what it would do.
func (f *loadFlags) adoptAll(ctx context.Context, stores []store.Database, stdout io.Writer) error {
	t, ok := tenants()[f.workload]
	if !ok || t.adopt == nil {
		return usageError("--adopt: only databases of DVD Store are adopted")
	}
	f.options.Version = kitVersion()
	for _, s := range stores {
		if info, err := store.ReadInfo(ctx, s.DB()); err == nil {
			return fmt.Errorf("adopt %s: it is one of ds2's already, of size %s; ds2 drive runs on it",
				s.Label(), info[store.InfoSize])
		}
		data, found, err := t.adopt(f, ctx, s)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s holds %s, loaded by DVD Store's own scripts\n", s.Label(), data)
		for _, line := range found {
			fmt.Fprintln(stdout, "  "+line)
		}
		options := f.options
		options.Dataset = data
		verb := "would add"
		if !f.adopted.dryRun {
			leftOut, err := load.Adopt(ctx, s, options)
			if err != nil {
				return err
			}
			if _, err := t.Mark(ctx, s, true); err != nil {
				return err
			}
			for _, line := range leftOut {
				fmt.Fprintln(stdout, "  "+line)
			}
			verb = "added"
		}
		fmt.Fprintf(stdout, "  %s: %s\n", verb, adds)
	}
	return nil
}

// adds is what adopting brings into a database.
const adds = "table ds2_info, procedures ds2_login, ds2_new_customer, ds2_browse_by_…, ds2_purchase; " +
	"a restock trigger if inventory has none; nothing that was there is changed"

// adoptDS2 looks at a database of DVD Store.
func (f *loadFlags) adoptDS2(ctx context.Context, target store.Database) (workload.Dataset, []string, error) {
	words, err := readWords(f.words)
	if err != nil {
		return nil, nil, err
	}
	a, err := ds2.Examine(ctx, target, words)
	if err != nil {
		return nil, nil, err
	}
	orders := a.Size.OrdersPerMonth * datagen.Months
	found := []string{
		fmt.Sprintf("%d customers, %d orders, %d products", a.Size.Customers, orders, a.Size.Products),
		"as it was loaded: no run has added an order or a customer",
		"its first rows are those that DVD Store's programs write on Linux",
		"titles and actors are made of ds2's own words",
	}
	if a.Orders > 0 || a.Customers > 0 {
		found[1] = fmt.Sprintf("driven already: orders up to number %d and customers up to %d came after the load; "+
			"ds2 reset removes them", a.Orders+int64(orders), a.Customers+int64(a.Size.Customers))
	}
	if a.OtherRows {
		found[2] = "its rows are not those that DVD Store's programs write on Linux: " +
			"ds2 reset cannot make them again; use ds2 snapshot"
	}
	if a.Words != datagen.DefaultWords().Sum() {
		found[3] = "titles and actors are made of other words than ds2's; " +
			"they were read from the products and are noted"
	}
	return a, found, nil
}
