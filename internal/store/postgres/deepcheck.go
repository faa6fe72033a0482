package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/schema"
)

// deepCheck has the server's extension amcheck read and check all tables and indexes, in one
// transaction that is never committed. Where the extension is missing it is made in it: whatever
// ends the check, kill -9 of ds2 included, leaves nothing behind.
type deepCheck struct {
	*Store
	tx      *sql.Tx
	version int             // of the server, the major one
	amcheck string          // schema of the extension, quoted
	known   map[string]bool // its functions
	result  store.DeepCheck
}

// relation is a table or index.
type relation struct {
	oid    uint32
	name   string // quoted, with its schema
	method string // access method
	usable bool   // false for an index that was never finished
	bytes  int64
}

// MayDeepCheck makes what a check needs, and leaves nothing of it: upkeep.DeepChecker.
func (s *Store) MayDeepCheck(ctx context.Context) error {
	c := &deepCheck{Store: s}
	defer c.endTransaction()
	return c.beginTransaction(ctx)
}

// DeepCheck has amcheck read and check every B-tree, from version 14 on every table, and from 18 on
// GIN indexes: upkeep.DeepChecker. Of a table or an index with a page that cannot be read the first
// is named. A page in a cache is not read from the drive.
func (s *Store) DeepCheck(ctx context.Context, tell progress.Tell) (store.DeepCheck, error) {
	start := time.Now()
	c := &deepCheck{
		Store:  s,
		result: store.DeepCheck{Damage: []store.Damage{}, Unchecked: []string{}},
	}
	defer c.endTransaction()
	if err := c.beginTransaction(ctx); err != nil {
		return c.result, err
	}
	relations, err := c.listRelations(ctx)
	if err != nil {
		return c.result, err
	}
	done := int64(0)
	for _, r := range relations {
		tell("check "+r.name, done, c.result.Bytes)
		if err := c.checkRelation(ctx, r); err != nil {
			return c.result, fmt.Errorf("check %s: %w", r.name, err)
		}
		done += r.bytes
		tell("check "+r.name, done, c.result.Bytes)
	}
	// Of this database, and of what all share. NULL: pages carry no checksums.
	const failures = `SELECT sum(checksum_failures)::bigint FROM pg_stat_database
		WHERE datid = 0 OR datname = current_database()`
	if err := s.db.QueryRowContext(ctx, failures).Scan(&c.result.ChecksumFailures); err != nil {
		return c.result, fmt.Errorf("ask for checksum failures: %w", err)
	}
	c.result.Seconds = time.Since(start).Seconds()
	return c.result, nil
}

// beginTransaction begins the transaction, asks what server this is, and sets what would hide
// damage.
func (c *deepCheck) beginTransaction(ctx context.Context) (err error) {
	if c.tx, err = c.db.BeginTx(ctx, nil); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	err = c.tx.QueryRowContext(ctx, `SELECT 'PostgreSQL ' || current_setting('server_version'),
		current_setting('data_checksums') = 'on', current_setting('server_version_num')::int / 10000`).
		Scan(&c.result.Server, &c.result.Checksums, &c.version)
	if err != nil {
		return fmt.Errorf("ask for the server's settings: %w", err)
	}
	_, err = c.tx.ExecContext(ctx, `SELECT set_config(name, 'off', true)
		FROM (VALUES ('zero_damaged_pages'), ('ignore_checksum_failure')) v (name)
		WHERE current_setting(name) <> 'off'`)
	if err != nil {
		return fmt.Errorf("begin a deep check: %w", err)
	}
	if err := c.requireExtension(ctx); err != nil {
		return err
	}
	_, err = c.tx.ExecContext(ctx, "SAVEPOINT ds2")
	return err
}

// requireExtension makes sure that amcheck is there and that the user may call it. A standby would
// refuse to create it IF NOT EXISTS, though it does.
func (c *deepCheck) requireExtension(ctx context.Context) error {
	op := "use the extension amcheck of " + c.Label()
	const find = `SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'amcheck'`
	err := c.tx.QueryRowContext(ctx, find).Scan(&c.amcheck)
	if errors.Is(err, sql.ErrNoRows) {
		if _, err = c.tx.ExecContext(ctx, "CREATE EXTENSION amcheck"); err == nil {
			err = c.tx.QueryRowContext(ctx, find).Scan(&c.amcheck)
		}
	}
	switch sqlState(err) {
	case insufficientPrivilege:
		needed := "bt_index_parent_check(regclass, boolean)"
		if c.version >= 14 {
			needed += ", verify_heapam"
		}
		if c.version >= 18 {
			needed += ", gin_index_check"
		}
		hint := fmt.Sprintf("have a superuser run in this database: CREATE EXTENSION amcheck; "+
			"GRANT EXECUTE ON FUNCTION %s TO %q", needed, c.config.User)
		return store.Refuse(op, hint, "the user may not create it")
	case "0A000", "58P01": // feature_not_supported, undefined_file
		return store.Refuse(
			op,
			"install the server's contrib package",
			"the server has no such extension",
		)
	}
	if err != nil {
		return c.Wrap(op, err)
	}
	var denied string
	functions := schema.Query(Engine, "database/amcheck-functions")
	c.known = map[string]bool{}
	err = store.EachRow(ctx, c.tx, math.MaxInt64, functions, func(rows *sql.Rows) error {
		var name, signature string
		var allowed bool
		err := rows.Scan(&name, &allowed, &signature)
		c.known[name] = true
		if !allowed {
			denied += ", " + signature
		}
		return err
	})
	if err == nil && denied != "" {
		hint := "have a superuser run in this database: GRANT EXECUTE ON FUNCTION " + denied[2:] +
			fmt.Sprintf(" TO %q", c.config.User)
		return store.Refuse(op, hint, "the user may not call its functions")
	}
	return c.Wrap(op, err)
}

// listRelations finds every table and index, an index after its table, of which much is in a cache
// then.
func (c *deepCheck) listRelations(ctx context.Context) ([]relation, error) {
	ask := schema.Query(Engine, "database/relations")
	all, err := store.Collect(ctx, c.tx, ask, func(r *relation) []any {
		return []any{&r.oid, &r.name, &r.method, &r.usable, &r.bytes}
	})
	if err != nil {
		return nil, fmt.Errorf("list tables and indexes: %w", err)
	}
	for _, r := range all {
		c.result.Bytes += r.bytes
	}
	c.result.Objects = len(all)
	return all, nil
}

// checkRelation checks a table or an index, and goes back to where the extension had just been
// made: what failed since no longer stands in the way, and locks taken since are given up.
func (c *deepCheck) checkRelation(ctx context.Context, r relation) (err error) {
	call := func(format string) error {
		_, err := c.tx.ExecContext(ctx, fmt.Sprintf(format, c.amcheck, r.oid))
		return err
	}
	switch {
	case !r.usable:
		c.noteUnchecked(r, "the index is not valid")
	case r.method == "btree":
		err = call("SELECT %s.bt_index_parent_check(%d::oid::regclass, heapallindexed => true)")
	case r.method == "gin" && c.known["gin_index_check"]:
		err = call("SELECT %s.gin_index_check(%d::oid::regclass)")
	case r.method == "heap" && c.known["verify_heapam"]:
		err = c.checkTable(ctx, r)
	default:
		c.noteUnchecked(r, fmt.Sprintf("amcheck of %s does not know %s", c.result.Server, r.method))
	}
	if said, ok := errors.AsType[*pgconn.PgError](err); ok && !aboutServer[said.Code[:2]] {
		c.noteDamage(r, "", serverError{PgError: said}.Error())
		err = nil
	}
	if err == nil {
		_, err = c.tx.ExecContext(ctx, "ROLLBACK TO ds2")
	}
	return err
}

// checkTable runs verify_heapam, which returns a row for each damage.
func (c *deepCheck) checkTable(ctx context.Context, r relation) error {
	query := fmt.Sprintf(`SELECT blkno, coalesce(offnum, 0), msg
		FROM %s.verify_heapam(%d::oid::regclass, check_toast => true)`, c.amcheck, r.oid)
	return store.EachRow(ctx, c.tx, math.MaxInt64, query, func(rows *sql.Rows) error {
		var block, line int64
		var message string
		err := rows.Scan(&block, &line, &message)
		if err == nil {
			c.noteDamage(r, fmt.Sprintf("block %d row %d", block, line), message)
		}
		return err
	})
}

func (c *deepCheck) noteUnchecked(r relation, reason string) {
	c.result.Unchecked = append(c.result.Unchecked, r.name+": "+reason)
}

func (c *deepCheck) noteDamage(r relation, place, found string) {
	c.result.Damage = append(
		c.result.Damage,
		store.Damage{Object: r.name, Place: place, Found: found},
	)
}

// endTransaction ends the transaction, if one was begun.
func (c *deepCheck) endTransaction() {
	if c.tx != nil {
		c.tx.Rollback()
	}
}

// aboutServer are the classes of SQLSTATE about connection, transaction state, rights and names,
// resources, prerequisites and operator intervention. Damage can come with any other, since damaged
// data can look like anything.
var aboutServer = map[string]bool{
	"08": true,
	"25": true,
	"28": true,
	"42": true,
	"53": true,
	"55": true,
	"57": true,
}
