// Package slowdrive is a directory whose I/Os take as long as it is told to take, by a file system in user space
// (FUSE): a drive that nobody has yet. What it holds lies in another directory and is not safe from a
// power cut, as flushes only take time. Nothing of it stays in the page cache above it, so each read of a server
// comes to it.
package slowdrive

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Delays are what is added to the time that the directory takes by itself.
type Delays struct {
	Read, Flush time.Duration
	Write       time.Duration // of data; a write of the log waits for its flush only
	AtOnce      int           // reads that are served at once, while others wait; 0: any number
}

// ParseDelays reads READ/FLUSH, with /WRITE, /AT-ONCE, or both behind it.
func ParseDelays(text string) (d Delays, err error) {
	parts := strings.Split(text, "/")
	if n := len(parts) - 1; n > 1 {
		d.AtOnce, err = strconv.Atoi(parts[n])
		if err == nil {
			parts = parts[:n]
		}
	}
	good := (len(parts) == 2 || len(parts) == 3) && d.AtOnce >= 0
	times := []*time.Duration{&d.Read, &d.Flush, &d.Write}
	for i, part := range parts[:min(len(parts), 3)] {
		*times[i], err = time.ParseDuration(part)
		good = good && err == nil && *times[i] >= 0 && *times[i] <= time.Second
	}
	if !good {
		return d, fmt.Errorf("%q is no drive such as 1ms/4ms: times of 0 to 1s that are added to a read and to a "+
			"flush, /500us to a write of data, and /8 for 8 reads at once", text)
	}
	return d, nil
}

// LogDir is the directory whose files are the log; those of all others are data.
const LogDir = "pg_wal"
