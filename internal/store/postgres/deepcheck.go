package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"ds2/internal/progress"
	"ds2/internal/store"
)

// deepCheck has the server's extension amcheck read and check all tables and indexes, in one
// transaction that is never committed. Where the extension is missing it is made in it: whatever
// ends the check, kill -9 of ds2 included, leaves nothing behind.
type deepCheck struct {
	*Store
	tx      *sql.Tx
	version int               // of the server, the major one
	checks  map[string]string // SQL that checks a relation, by its access method
	result  store.DeepCheck
}

// relation is a table or index.
type relation struct {
	OID    uint32
	Name   string // quoted, with its schema
	Method string // access method
	Usable bool   // false for an index that was never finished
	Bytes  int64
}

// checkFunction is how amcheck checks what an access method stores.
type checkFunction struct {
	Method, SQL string
	Allowed     bool // the user may call it
	Signature   string
}

// MayDeepCheck makes what a check needs, and leaves nothing of it: upkeep.DeepChecker.
func (s *Store) MayDeepCheck(ctx context.Context) error {
	c := &deepCheck{Store: s}
	defer c.endTransaction()
	return s.Wrap("check "+s.Label(), c.beginTransaction(ctx))
}

// DeepCheck has amcheck read and check every B-tree, from version 14 on every table, and from 18 on
// GIN indexes: upkeep.DeepChecker. Of a table or an index with a page that cannot be read the first
// is named. A page in a cache is not read from the drive.
func (s *Store) DeepCheck(ctx context.Context, tell progress.Tell) (store.DeepCheck, error) {
	c := &deepCheck{
		Store:  s,
		result: store.DeepCheck{Damage: []store.Damage{}, Unchecked: []string{}},
	}
	defer c.endTransaction()
	start := time.Now()
	err := c.checkRelations(ctx, tell)
	c.result.Seconds = time.Since(start).Seconds()
	return c.result, s.Wrap("check "+s.Label(), err)
}

// checkRelations checks all tables and indexes, and then reads how many pages failed their
// checksums since the server's statistics began: a page that fails is counted by whoever reads it.
func (c *deepCheck) checkRelations(ctx context.Context, tell progress.Tell) error {
	if err := c.beginTransaction(ctx); err != nil {
		return err
	}
	// An index comes after its table, of which much is in a cache then.
	relations, err := store.Collect[relation](ctx, c.tx, query("database/relations"))
	if err != nil {
		return err
	}
	c.result.Objects = len(relations)
	for _, r := range relations {
		c.result.Bytes += r.Bytes
	}
	done := int64(0)
	for _, r := range relations {
		tell("check "+r.Name, done, c.result.Bytes)
		if err := c.checkRelation(ctx, r); err != nil {
			return c.Wrap("check "+r.Name, err)
		}
		done += r.Bytes
		tell("check "+r.Name, done, c.result.Bytes)
	}
	failures := c.db.QueryRowContext(ctx, query("database/checksum-failures"))
	return failures.Scan(&c.result.ChecksumFailures)
}

// beginTransaction begins the transaction, asks what server this is, and sets what would hide
// damage.
func (c *deepCheck) beginTransaction(ctx context.Context) (err error) {
	if c.tx, err = c.db.BeginTx(ctx, nil); err != nil {
		return err
	}
	err = c.tx.QueryRowContext(ctx, query("server/pages")).
		Scan(&c.result.Server, &c.result.Checksums, &c.version)
	if err == nil {
		_, err = c.tx.ExecContext(ctx, query("server/show-damage"))
	}
	if err == nil {
		err = c.requireExtension(ctx)
	}
	if err == nil {
		_, err = c.tx.ExecContext(ctx, "SAVEPOINT ds2")
	}
	return err
}

// requireExtension makes sure that amcheck is there and that the user may call it. A standby would
// refuse to create it IF NOT EXISTS, though it does.
func (c *deepCheck) requireExtension(ctx context.Context) error {
	op := "use the extension amcheck of " + c.Label()
	ask := query("database/amcheck-functions")
	functions, err := store.Collect[checkFunction](ctx, c.tx, ask)
	if err == nil && functions == nil {
		if _, err = c.tx.ExecContext(ctx, "CREATE EXTENSION amcheck"); err == nil {
			functions, err = store.Collect[checkFunction](ctx, c.tx, ask)
		}
	}
	grant := fmt.Sprintf("GRANT EXECUTE ON FUNCTION %%s TO %q", c.config.User)
	switch sqlState(err) {
	case insufficientPrivilege:
		needed := "bt_index_parent_check(regclass, boolean)"
		if c.version >= 14 {
			needed += ", verify_heapam"
		}
		if c.version >= 18 {
			needed += ", gin_index_check"
		}
		hint := "have a superuser run in this database: CREATE EXTENSION amcheck; " + grant
		return store.Refuse(op, fmt.Sprintf(hint, needed), "the user may not create it")
	case "0A000", "58P01": // feature_not_supported, undefined_file
		const hint = "install the server's contrib package"
		return store.Refuse(op, hint, "the server has no such extension")
	}
	c.checks = map[string]string{}
	var denied []string
	for _, f := range functions {
		c.checks[f.Method] = f.SQL
		if !f.Allowed {
			denied = append(denied, f.Signature)
		}
	}
	if denied != nil {
		hint := "have a superuser run in this database: " + grant
		needed := strings.Join(denied, ", ")
		return store.Refuse(op, fmt.Sprintf(hint, needed), "the user may not call its functions")
	}
	return c.Wrap(op, err)
}

// checkRelation checks a table or an index, and goes back to where the extension had just been
// made: what failed since no longer stands in the way, and locks taken since are given up.
func (c *deepCheck) checkRelation(ctx context.Context, r relation) error {
	check, known := c.checks[r.Method]
	if !r.Usable || !known {
		why := "the index is not valid"
		if r.Usable {
			why = fmt.Sprintf("amcheck of %s does not know %s", c.result.Server, r.Method)
		}
		c.result.Unchecked = append(c.result.Unchecked, r.Name+": "+why)
		return nil
	}
	type fault struct{ Place, Found string }
	faults, err := store.Collect[fault](ctx, c.tx, check, r.OID)
	if said, ok := errors.AsType[*pgconn.PgError](err); ok &&
		!slices.Contains(aboutServer, said.Code[:2]) {
		faults = append(faults, fault{Found: serverError{PgError: said}.Error()})
		err = nil
	}
	for _, f := range faults {
		c.result.Damage = append(c.result.Damage, store.Damage{
			Object: r.Name, Place: f.Place, Found: f.Found,
		})
	}
	if err == nil {
		_, err = c.tx.ExecContext(ctx, "ROLLBACK TO ds2")
	}
	return err
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
var aboutServer = strings.Fields("08 25 28 42 53 55 57")
