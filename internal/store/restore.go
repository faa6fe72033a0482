package store

import (
	"context"
	"io"

	"ds2/schema"
)

// Resetter is a Store that can take its database back to the state after the load without loading again.
type Resetter interface {
	// Reset runs the statements of schema.Reset, which remove what runs added, and restores INVENTORY from the dataset's
	// rows of it, as CSV. New customers and orders get the numbers that those of the first run got.
	Reset(ctx context.Context, statements []schema.Statement, inventory io.Reader) error
}

// Snapshotter is a Store that keeps a copy of its whole database beside it. There is at most one.
type Snapshotter interface {
	// CreateSnapshot makes the copy, or makes it anew. Nobody may be at work on the database.
	CreateSnapshot(ctx context.Context) error

	// RestoreSnapshot puts the copy in the database's place; whoever is connected to it is disconnected. The copy stays.
	RestoreSnapshot(ctx context.Context) error

	// DropSnapshot removes the copy.
	DropSnapshot(ctx context.Context) error
}
