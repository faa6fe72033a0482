package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"ds2/internal/store"
)

// advise prints what of the servers' configuration makes a run say less about their drives than it seems to.
func advise(ctx context.Context, stores []store.Store, run time.Duration, w io.Writer) error {
	for _, s := range stores {
		adviser, ok := s.(store.Adviser)
		if !ok {
			continue
		}
		advice, err := adviser.Advise(ctx, run)
		if err != nil {
			return err
		}
		for _, sentence := range advice {
			fmt.Fprintf(w, "warning: %s: %s\n", s.Label(), sentence)
		}
	}
	return nil
}

// printPlacement prints where the tables and indexes of each database lie and how large they are.
func printPlacement(ctx context.Context, w io.Writer, stores []store.Store) error {
	for _, s := range stores {
		placer, ok := s.(store.Placer)
		if !ok {
			continue
		}
		placement, err := placer.Placement(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "tables and indexes of %s:\n", s.Label())
		for _, p := range placement {
			fmt.Fprintf(w, "  %-5s  %-28s %10s  %s\n", p.Kind, p.Name, bytesText(p.Bytes), p.Place)
		}
	}
	return nil
}
