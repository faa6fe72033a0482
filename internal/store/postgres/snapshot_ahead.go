package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"ds2/internal/progress"
)

// A server copies a file by reading a little, writing it, and having the kernel begin to write it
// to the drive, one after the other, so that drives and server may wait for each other. A second
// session that reads the same files in the same order just before puts them into the kernel's page
// cache.

const (
	// bytes that are read before the copy has come there: what they occupy of the page cache
	aheadMost  = 250e6
	aheadChunk = 4 << 20 // bytes of one read
)

// dataFile is a file of a database.
type dataFile struct {
	Path string
	Size int64
}

// readAhead reads the files of a database shortly before a copy reads them, which has copied so
// many bytes, until stop is called. Only a superuser may do that, and it is for speed alone: where
// it fails, the copy goes on without.
func (s *Store) readAhead(ctx context.Context, database string, copied func() int64) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		conn := s.connectWatcher(ctx)
		if conn == nil {
			return
		}
		defer conn.Close(context.WithoutCancel(ctx))
		files, err := filesOf(ctx, conn, database)
		if err != nil {
			return
		}
		readFiles(ctx, files, copied, func(path string, offset int64) error {
			_, err := conn.Exec(ctx, query("server/read-file"), path, offset, int64(aheadChunk))
			return err
		})
	}()
	return func() { cancel(); <-ended }
}

// readFiles calls read for each chunk of files that a copy has not reached yet, with the file's
// path and the place in it. copied is how many bytes the copy has.
func readFiles(
	ctx context.Context,
	files []dataFile,
	copied func() int64,
	read func(string, int64) error,
) {
	at := int64(0)
	for _, f := range files {
		for offset := int64(0); offset < f.Size; offset += aheadChunk {
			for at > copied()+aheadMost {
				if !progress.Pause(ctx, copyEvery/4) {
					return
				}
			}
			chunk := min(aheadChunk, f.Size-offset)
			if at+chunk > copied() && read(f.Path, offset) != nil {
				return
			}
			at += chunk
		}
	}
}

// filesOf lists the files of a database in the order in which the server copies them: tablespace by
// tablespace, as their directories do.
func filesOf(ctx context.Context, conn *pgx.Conn, database string) ([]dataFile, error) {
	rows, _ := conn.Query(ctx, query("server/files-of-database"), database)
	return pgx.CollectRows(rows, pgx.RowToStructByPos[dataFile]) // gives the error of Query, too
}
