// Package deepcheck reads and checks every page of a PostgreSQL database, and its log.
package deepcheck

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/store/postgres/target"
	"ds2/internal/throttle"
)

// A deep check reads every page of every fork of a relation (read.go), then checks what the pages hold (check.go), and
// goes on to the next: small tables first, and indexes after their table, of which much is in a cache then. Both need
// extensions that come with the server. Missing ones are created in a transaction that is never committed: whatever
// ends the check, kill -9 of ds2 included, leaves none behind.

// deepCheck is a deep check under way, on one connection.
type deepCheck struct {
	target.Target
	conn      *sql.Conn
	how       store.DeepReading
	readers   []*pageReader // the first is conn's
	pageSize  int64
	tell      progress.Tell
	prewarm   string // schema of this extension, quoted
	amcheck   string // likewise
	relations []relation
	damaged   map[uint32]bool // relations with pages that cannot be read
	reading   store.Reading
	device    *target.Meter // of all readers
	throttle  throttle.Throttle
	work      int64 // of reading and checking everything, in pages
	worked    int64 // of this
	result    store.DeepCheck
}

// Checker checks a database. It needs a superuser.
type Checker struct{ target.Target }

// relation is a table, index or sequence.
type relation struct {
	oid, table uint32 // table is an index's, else the relation itself
	name       string // quoted, with its schema
	kind       string // as in pg_class
	method     string // access method
	usable     bool   // false for an index that was never finished
	forks      []fork
}

// fork is one of the files of a relation, in pages.
type fork struct {
	name  string
	pages int64
}

// pages are those of all forks.
func (r relation) pages() (n int64) {
	for _, f := range r.forks {
		n += f.pages
	}
	return n
}

// begin makes a check that has begun.
func (c Checker) begin(ctx context.Context, how store.DeepReading, tell progress.Tell) (*deepCheck, error) {
	s := &deepCheck{
		Target: c.Target, how: how, tell: tell, damaged: map[uint32]bool{},
		throttle: throttle.New(how.Rate),
		reading:  store.Reading{Readers: max(how.Readers, 1), Rate: how.Rate, Device: new(int64)},
		result:   store.DeepCheck{Damage: []store.Damage{}, Unchecked: []string{}},
	}
	return s, s.connect(ctx)
}

// MayDeepCheck makes what a check needs, and leaves nothing of it: store.Capabilities.
func (c Checker) MayDeepCheck(ctx context.Context) error {
	s, err := c.begin(ctx, store.DeepReading{}, progress.Ignore)
	s.leave(ctx)
	return err
}

// DeepCheck reads and checks every page: store.Capabilities.
func (c Checker) DeepCheck(ctx context.Context, how store.DeepReading, tell progress.Tell) (store.DeepCheck, error) {
	start := time.Now()
	s, err := c.begin(ctx, how, tell)
	defer func() { s.leave(ctx) }() // not the first connection, if that was lost
	if err != nil {
		return s.result, err
	}
	if err := s.list(ctx); err != nil {
		return s.result, err
	}
	if err := s.all(ctx); err != nil {
		return s.result, err
	}
	if how.Log {
		s.tell("read the log", 0, 0) // a pass of its own
		s.result.Log, err = c.checkLog(ctx, func(done, total int64) { s.tell("read the log", done, total) })
		if err != nil {
			return s.result, err
		}
		s.tell("read the log", s.result.Log.Bytes, s.result.Log.Bytes)
	}
	s.result.Seconds = time.Since(start).Seconds()
	return s.result, nil
}

// all reads and checks all relations.
func (s *deepCheck) all(ctx context.Context) error {
	known, err := s.checks(ctx)
	if err != nil {
		return err
	}
	for _, r := range s.relations {
		s.work += 2 * r.pages()
	}
	before := int64(0)
	for _, r := range s.relations {
		if err := s.readRelation(ctx, r); err != nil {
			return fmt.Errorf("read %s: %w", r.name, err)
		}
		if !s.damaged[r.oid] && !s.damaged[r.table] {
			s.show(r)
			if err := s.checkTwice(ctx, r, known); err != nil {
				return fmt.Errorf("check %s: %w", r.name, err)
			}
		}
		before += 2 * r.pages()
		s.worked = before
		s.show(r)
	}
	s.reading.Size = readPages * s.pageSize
	s.reading.MeanMS /= float64(max(s.reading.Reads, 1))
	s.result.Reading = &s.reading
	return nil
}

// show tells how far the deep check is, in a relation.
func (s *deepCheck) show(r relation) {
	s.tell("read and check "+r.name, s.worked, s.work)
}

// extension makes sure that an extension is there, and gives its schema, quoted. A standby would refuse to create one
// IF NOT EXISTS, though it does.
func (s *deepCheck) extension(ctx context.Context, name string) (schema string, err error) {
	const find = `SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = $1`
	err = s.conn.QueryRowContext(ctx, find, name).Scan(&schema)
	if errors.Is(err, sql.ErrNoRows) {
		if _, err = s.conn.ExecContext(ctx, "CREATE EXTENSION "+name); err != nil {
			const hint = "it comes with the server's contrib package and needs a superuser"
			return "", fmt.Errorf("create extension %s: %w; %s", name, err, hint)
		}
		err = s.conn.QueryRowContext(ctx, find, name).Scan(&schema)
	}
	if err != nil {
		return "", fmt.Errorf("find extension %s: %w", name, err)
	}
	return schema, nil
}

// undo goes back to where the extensions had just been made: what failed since no longer stands in the way, and locks
// taken since are given up.
func undo(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "ROLLBACK TO ds2")
	return err
}

// connect connects, asks what server this is, and sets what would hide damage or end the deep check early.
func (s *deepCheck) connect(ctx context.Context) (err error) {
	if s.conn, err = s.DB().Conn(ctx); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	err = s.conn.QueryRowContext(ctx, `SELECT 'PostgreSQL ' || current_setting('server_version'),
		current_setting('data_checksums') = 'on', current_setting('block_size')::bigint`).
		Scan(&s.result.Server, &s.result.Checksums, &s.pageSize)
	if err != nil {
		return fmt.Errorf("ask for the server's settings: %w", err)
	}
	if err := beginCheck(ctx, s.conn); err != nil {
		return err
	}
	if s.prewarm, err = s.extension(ctx, "pg_prewarm"); err != nil {
		return err
	}
	if s.amcheck, err = s.extension(ctx, "amcheck"); err != nil {
		return err
	}
	if _, err := s.conn.ExecContext(ctx, "SAVEPOINT ds2"); err != nil {
		return fmt.Errorf("set a savepoint: %w", err)
	}
	return s.openReaders(ctx)
}

// beginCheck begins the transaction of a connection that reads or checks pages, which is never committed.
func beginCheck(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, `SELECT set_config(name, value, false)
		FROM (VALUES ('zero_damaged_pages', 'off'), ('ignore_checksum_failure', 'off')) v (name, value)
		WHERE current_setting(name) <> value`)
	if err != nil {
		return fmt.Errorf("set what a deep check needs: %w", err)
	}
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	return nil
}

// recoveryTime is how long a server may take to come back after one of its processes broke down.
const recoveryTime = time.Minute

// leave ends the connection, and the transaction with it.
func (s *deepCheck) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	for _, r := range s.readers[min(1, len(s.readers)):] {
		drop(ctx, r.conn)
	}
	s.readers = nil
	drop(ctx, s.conn)
}

// drop ends a connection, if there is one.
func drop(ctx context.Context, conn *sql.Conn) {
	if conn == nil {
		return
	}
	conn.ExecContext(ctx, "ROLLBACK") // else done by the server when it finds the connection closed
	conn.Raw(func(any) error { return driver.ErrBadConn })
}

// reconnect connects again after the server ended the connection.
func (s *deepCheck) reconnect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, recoveryTime)
	defer cancel()
	s.leave(ctx)
	for {
		err := s.connect(ctx)
		if err == nil || !progress.Pause(ctx, time.Second) {
			return err
		}
	}
}

// list finds every relation that has pages.
func (s *deepCheck) list(ctx context.Context) error {
	const ask = `
		SELECT c.oid, coalesce(i.indrelid, c.oid), format('%I.%I', n.nspname, c.relname), c.relkind::text,
			coalesce(a.amname, ''), coalesce(i.indisvalid AND i.indisready, true),
			f.name, pg_relation_size(c.oid, f.name) / $1::bigint
		FROM pg_class c
		JOIN pg_namespace n ON n.oid = c.relnamespace
		LEFT JOIN pg_am a ON a.oid = c.relam
		LEFT JOIN pg_index i ON i.indexrelid = c.oid
		CROSS JOIN (VALUES ('main'), ('fsm'), ('vm'), ('init')) f (name)
		WHERE c.relpersistence <> 't' AND pg_relation_filenode(c.oid) IS NOT NULL
			AND pg_relation_size(c.oid, f.name) > 0
		ORDER BY pg_total_relation_size(coalesce(i.indrelid, c.oid)), coalesce(i.indrelid, c.oid),
			i.indrelid IS NOT NULL, n.nspname, c.relname, c.oid, f.name`
	err := store.EachRow(ctx, s.conn, math.MaxInt64, ask, func(rows *sql.Rows) error {
		var r relation
		var f fork
		err := rows.Scan(&r.oid, &r.table, &r.name, &r.kind, &r.method, &r.usable, &f.name, &f.pages)
		if n := len(s.relations); n == 0 || s.relations[n-1].oid != r.oid {
			s.relations = append(s.relations, r)
		}
		last := &s.relations[len(s.relations)-1]
		last.forks = append(last.forks, f)
		s.result.Bytes += f.pages * s.pageSize
		return err
	}, s.pageSize)
	if err != nil {
		return fmt.Errorf("list tables and indexes: %w", err)
	}
	s.result.Objects, s.result.Pages = len(s.relations), s.result.Bytes/s.pageSize
	return nil
}

// found notes damage. An error that says nothing about the data comes back: the check could not be made.
func (s *deepCheck) found(r relation, err error) error {
	if err == nil {
		return nil
	}
	server, err := aboutData(err)
	if err == nil {
		s.damage(r, "", server.Error())
	}
	return err
}

// aboutData is what the server said of its data; the error where it said something else.
func aboutData(err error) (target.ServerError, error) {
	server, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || aboutServer[server.Code[:2]] {
		return target.ServerError{}, err
	}
	return target.ServerError{PgError: server}, nil
}

func (s *deepCheck) damage(r relation, place, found string) {
	s.result.Damage = append(s.result.Damage, store.Damage{Object: r.name, Place: place, Found: found})
}

// aboutServer are the classes of SQLSTATE about connection, transaction state, rights and names, resources,
// prerequisites and operator intervention. Damage can come with any other, since damaged data can look like anything.
var aboutServer = map[string]bool{"08": true, "25": true, "28": true, "42": true, "53": true, "55": true, "57": true}

// regclass names a relation in SQL.
func (r relation) regclass() string { return fmt.Sprintf("%d::oid::regclass", r.oid) }
