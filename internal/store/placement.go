package store

import (
	"context"
	"time"
)

// Placed is a table or an index and where it lies.
type Placed struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`  // "table" or "index"
	Place string `json:"place"` // tablespace or filegroup, with its folder where that is known
	Bytes int64  `json:"bytes"`
}

// Placer is a Store that knows where its tables and indexes lie.
type Placer interface {
	// Placement lists the tables and indexes of DS2, the largest first.
	Placement(ctx context.Context) ([]Placed, error)
}

// Adviser is a Store that knows what of its server's configuration makes a run say less about the drives than it seems to.
type Adviser interface {
	// Advise gives one sentence for each thing that a user should know before a run of a length; 0: no run is near. The
	// server's machine has so many bytes of memory; 0: nobody knows.
	Advise(ctx context.Context, run time.Duration, memory int64) ([]string, error)
}
