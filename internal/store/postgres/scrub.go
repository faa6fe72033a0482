package postgres

import (
	"context"
	"database/sql"
	"fmt"

	"ds2/internal/store"
)

// scrub reads the main files of all tables and indexes, the server's own among them. The server
// reads each request with one call past its buffers, which therefore keep what the users need, and
// checks nothing of it: a page may be written at that moment. Of the ways to have a server read,
// only this one makes requests of more than a page in all versions.
type scrub struct {
	*Store
	conn    *sql.Conn
	device  meter
	segment int64 // bytes of a file, after which a relation goes on in another

	files []scrubFile
	at    int   // among them
	from  int64 // in the relation
}

// scrubFile is the main fork of a relation.
type scrubFile struct {
	Path  string // of the first segment, in the data directory
	Bytes int64
}

// OpenScrub connects a scan of the database's files: background.Scrubber.
func (s *Store) OpenScrub(ctx context.Context) (_ store.Reader, err error) {
	op := "scrub " + s.Label()
	conn, err := s.DB().Conn(ctx)
	if err != nil {
		return nil, s.Wrap(op, err)
	}
	r := &scrub{Store: s, conn: conn}
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	var allowed bool
	const function = "pg_read_binary_file(text, bigint, bigint, boolean)"
	err = conn.QueryRowContext(ctx, query("database/readable-files"), function).
		Scan(&allowed, &r.segment)
	if err != nil {
		return nil, s.Wrap(op, err)
	}
	if !allowed {
		hint := fmt.Sprintf("connect to the database as a superuser and GRANT EXECUTE ON FUNCTION %s TO %q, or leave out --scrub-rate",
			function, s.config.User)
		return nil, store.Refuse(op, hint, "the user may not read the server's files")
	}
	r.device = newMeter(ctx, conn)
	return r, r.listFiles(ctx)
}

// listFiles begins again at the first file. Files lie on a drive about in the order in which they
// were made.
func (r *scrub) listFiles(ctx context.Context) (err error) {
	r.at = 0
	r.from = 0
	ask := query("database/files-of-relations")
	r.files, err = store.Collect[scrubFile](ctx, r.conn, ask)
	return r.wrapError(err)
}

// wrapError names what failed by the whole scrub: which file it was stands in the error of a
// request.
func (r *scrub) wrapError(err error) error { return r.Wrap("scrub "+r.Label(), err) }

// Read reads the next piece of a file.
func (r *scrub) Read(ctx context.Context) (store.Read, error) {
	read := store.Read{Device: -1}
	if r.at == len(r.files) {
		if err := r.listFiles(ctx); err != nil {
			return read, err
		}
	}
	f := r.files[r.at]
	path := f.Path
	offset := r.from % r.segment
	if n := r.from / r.segment; n > 0 {
		path = fmt.Sprintf("%s.%d", path, n)
	}
	length := min(store.ScrubRequest, f.Bytes-r.from, r.segment-offset)
	if r.from += length; r.from == f.Bytes {
		r.at = r.at + 1
		r.from = 0
	}
	read.Last = r.at == len(r.files)

	before := r.device.bytesRead()
	var bytes sql.NullInt64 // NULL where the relation was dropped meanwhile
	err := r.conn.QueryRowContext(ctx, query("server/read-file"), path, offset, length).Scan(&bytes)
	switch {
	case lostConnection(err):
		return read, r.wrapError(err)
	case err != nil:
		op := fmt.Sprintf("scrub %s: read %d bytes at %d of %s", r.Label(), length, offset, path)
		return read, &store.Error{Op: op, Class: store.Resource, Code: sqlState(err), Err: err}
	}
	read.Bytes = bytes.Int64
	if after := r.device.bytesRead(); before >= 0 && after >= 0 {
		read.Device = after - before // the kernel may read far ahead, and then nothing for a while
	}
	return read, nil
}

// Close gives the connection back.
func (r *scrub) Close() { r.conn.Close() }
