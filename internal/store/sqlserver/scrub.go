package sqlserver

import (
	"context"
	"database/sql/driver"
	"io"
	"net"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store"
)

// scrub reads all tables by their clustered keys, or heaps, one after the other. Each is one
// statement whose rows are taken as slowly as the scan is to be: the server stops reading when what
// it has sent is not taken. It locks no rows, and reads ahead in pieces of its own size. What it
// reads passes through the server's buffers, which verify each page, and may drive others out.
type scrub struct {
	*Store
	conn    *mssql.Conn
	network *network

	tables []scrubTable
	at     int         // among them
	rows   *mssql.Rows // of the table under way; nil between two
	row    []driver.Value
	rest   float64 // bytes that were read beyond the last request's
}

// scrubTable is a table and the share of its pages that each of its rows has.
type scrubTable struct {
	name     string // quoted, with its schema
	rowBytes float64
}

// scrubBuffer is how many bytes of rows may be under way between the server and ds2. The system
// would let it grow to some MB.
const scrubBuffer = 64 << 10

// OpenScrub connects a scan of the database's tables: background.Scrubber.
func (s *Store) OpenScrub(ctx context.Context) (store.Reader, error) {
	r := &scrub{Store: s}
	if err := r.listTables(ctx); err != nil {
		return nil, r.wrapError(err)
	}
	return s.connectScrub(ctx, r.tables...)
}

// connectScrub connects one that begins with some tables.
func (s *Store) connectScrub(
	ctx context.Context, tables ...scrubTable,
) (_ store.Reader, err error) {
	r := &scrub{Store: s, tables: tables}
	if r.conn, r.network, err = s.dialServer(ctx, s.config); err != nil {
		return nil, r.wrapError(err)
	}
	r.network.eachConn(func(conn net.Conn) {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(scrubBuffer) // else the scan only begins with more at once
		}
	})
	return r, nil
}

// listTables begins again at the first table, in the order in which they were made.
func (r *scrub) listTables(ctx context.Context) error {
	r.at = 0
	r.tables = nil
	type name struct{ Schema, Table string }
	found, err := store.Collect[name](ctx, r.DB(), query("database/tables"))
	if err != nil {
		return err
	}
	for _, found := range found {
		name := quoteName(found.Schema) + "." + quoteName(found.Table)
		bytes, err := r.TableBytes(ctx, name)
		if err != nil {
			return err
		}
		count, err := r.TableRows(ctx, name)
		if err != nil {
			return err
		}
		if count > 0 && bytes > 0 {
			r.tables = append(r.tables, scrubTable{name, float64(bytes) / float64(count)})
		}
	}
	if len(r.tables) == 0 {
		return store.Refuse("scrub "+r.Label(), "fill it with ds2 load", "the database has no rows")
	}
	return nil
}

// Read takes rows that lie on as many bytes of pages as a request has.
func (r *scrub) Read(ctx context.Context) (store.Read, error) {
	// go-mssqldb does not look at a later context while it waits for rows.
	stop := context.AfterFunc(ctx, r.network.cutConns)
	defer stop()
	read := store.Read{Device: -1}
	if r.at == len(r.tables) {
		if err := r.listTables(ctx); err != nil {
			return read, r.wrapError(err)
		}
	}
	t := r.tables[r.at]
	if r.rows == nil {
		if err := r.beginTable(ctx, t); err != nil {
			return read, r.wrapError(err)
		}
	}
	bytes := r.rest
	for bytes < store.ScrubRequest {
		err := r.rows.Next(r.row)
		if err == nil {
			bytes += t.rowBytes
			continue
		}
		r.rows.Close()
		r.rows = nil
		r.at++
		if err != io.EOF {
			return read, r.wrapError(err)
		}
		read.Last = r.at == len(r.tables)
		break
	}
	read.Bytes = int64(bytes)
	r.rest = bytes - float64(read.Bytes)
	return read, nil
}

// beginTable begins with a table.
func (r *scrub) beginTable(ctx context.Context, t scrubTable) error {
	// Without locks a scan may follow the pages as they lie in the file.
	scan := "SELECT * FROM " + t.name + " WITH (NOLOCK, INDEX(0)) OPTION (MAXDOP 1)"
	rows, err := queryOn(ctx, r.conn, scan, nil)
	if err != nil {
		r.at++
		return err
	}
	r.rows, r.row = rows, make([]driver.Value, len(rows.Columns()))
	return nil
}

func (r *scrub) wrapError(err error) error { return r.Wrap("scrub "+r.Label(), err) }

// Close disconnects, which ends the statement under way.
func (r *scrub) Close() { r.conn.Close() }
