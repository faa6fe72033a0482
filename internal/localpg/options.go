// Package localpg runs a private PostgreSQL, for a demo or a test: on loopback only, in a separate
// directory, gone when its owner is gone. The programs are those of an installed server or, where
// there is none, fetched ones (binaries.go). It runs as root too, where the server itself is
// another user's (user.go).
//
// What is done with the server is not for this package: it knows no database driver and no SQL.
package localpg

import "log/slog"

// User is the superuser of every server that Start makes.
const User = "postgres"

// Options say what server Start makes; the zero value is a good one.
type Options struct {
	// major version; 0: the newest installed or, with none, the newest to be fetched
	Version int
	BinDir  string // directory that holds postgres and initdb; empty: looked for
	// directory for the cluster, absent or empty, kept by Stop; empty: a temporary one
	DataDir   string
	Settings  map[string]string // server settings, such as shared_buffers
	Checksums bool              // data page checksums
	Log       *slog.Logger      // told what takes long; nil: no one
}
