package runs

import (
	"context"
	"fmt"

	"ds2/internal/result"
	"ds2/internal/store"
)

// cloned are the labels of targets that were copied as clones. Of a database that says nothing of itself nobody knows.
func cloned(ctx context.Context, targets []store.Database) (labels []string) {
	for _, target := range targets {
		if info, err := store.ReadInfo(ctx, target.DB()); err == nil && info[store.InfoClone] != "" {
			labels = append(labels, target.Label())
		}
	}
	return labels
}

// cloneWarnings say what the run of a clone measures.
func cloneWarnings(s result.Summary) (all []string) {
	for _, label := range s.Cloned {
		all = append(all, fmt.Sprintf("%s: overwrites are copied: its files may share blocks with its snapshot's (--clone), and where they do, what is overwritten first goes elsewhere "+
			"on the drive, and the figures hold the file system's work; restore it without --clone to measure the drive alone", label))
	}
	return all
}
