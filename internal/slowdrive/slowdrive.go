// Package slowdrive is a directory whose I/Os take as long as it is told to take, by a file system in user space
// (FUSE): a drive that nobody has yet. What it holds lies in another directory and is not safe from a
// power cut, as flushes only take time. Nothing of it stays in the page cache above it, so each read of a server
// comes to it.
package slowdrive

import "time"

// Delays are what is added to the time that the directory takes by itself.
type Delays struct {
	Read, Flush time.Duration
	Write       time.Duration // of data; a write of the log waits for its flush only
	AtOnce      int           // reads that are served at once, while others wait; 0: any number
}

// LogDir is the directory whose files are the log; those of all others are data.
const LogDir = "pg_wal"
