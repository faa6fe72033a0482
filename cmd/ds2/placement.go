package main

import (
	"context"
	"fmt"
	"io"

	"ds2/internal/store"
)

// printPlacement prints where the tables and indexes of each database lie and how large they are.
func printPlacement(ctx context.Context, w io.Writer, stores []store.Database) error {
	for _, s := range stores {
		ask := s.Can().Placement
		if ask == nil {
			continue
		}
		placement, err := ask(ctx)
		if err != nil {
			return err
		}
		if len(placement) == 0 {
			continue
		}
		fmt.Fprintf(w, "tables and indexes of %s:\n", s.Label())
		for _, p := range placement {
			fmt.Fprintf(w, "  %-5s  %-28s %10s  %s\n", p.Kind, p.Name, bytesText(p.Bytes), p.Place)
		}
	}
	return nil
}
