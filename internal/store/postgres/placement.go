package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"ds2/internal/store"
	"ds2/schema"
)

// Adapt makes tablespaces of those that are given as directories: store.Database. One that is there
// for the directory already is taken as it is.
func (s *Store) Adapt(ctx context.Context, p *schema.Params) ([]string, error) {
	if p.DataTablespace == "" && p.IndexTablespace == "" {
		return nil, nil
	}
	conn, err := s.connectMaintenance(ctx, cancelStatement)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	for _, space := range []*string{&p.DataTablespace, &p.IndexTablespace} {
		if *space == "" {
			continue
		}
		name, err := findTablespace(ctx, conn, *space)
		if err != nil {
			return nil, s.Wrap("place tables and indexes in "+*space, err)
		}
		*space = name
	}
	return nil, nil
}

// findTablespace gives the name of a tablespace that is given by its name or its directory. One
// that is made in /mnt/ssd1 is ds2_mnt_ssd1.
func findTablespace(ctx context.Context, conn *pgx.Conn, place string) (name string, err error) {
	column := "spcname"
	if strings.HasPrefix(place, "/") {
		column = "pg_tablespace_location(oid)"
	}
	err = conn.QueryRow(ctx, "SELECT spcname FROM pg_tablespace WHERE "+column+" = $1", place).
		Scan(&name)
	if !errors.Is(err, pgx.ErrNoRows) {
		return name, err
	}
	if column == "spcname" {
		return "", store.Refuse(
			"look for tablespace "+place,
			"make it with CREATE TABLESPACE, or name a directory on the server, which begins with /",
			"there is no tablespace of that name",
		)
	}
	name = "ds2_" + strings.Trim(notWord.ReplaceAllString(strings.ToLower(place), "_"), "_")
	name = name[:min(len(name), maxName)]
	_, err = conn.Exec(
		ctx,
		"CREATE TABLESPACE "+quoteName(name)+" LOCATION '"+strings.ReplaceAll(place, "'", "''")+"'",
	)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return "", &store.Error{
			Op:    "make a tablespace in " + place,
			Class: store.Config,
			Code:  e.Code,
			Err:   serverError{PgError: e},
			Hint: "it must be an empty directory on the server, owned by the user that the server runs as, " +
				"and the target's user a superuser",
		}
	}
	return name, err
}

var notWord = regexp.MustCompile("[^a-z0-9]+")

// Placement lists where tables and indexes lie: audit.Placer.
func (s *Store) Placement(ctx context.Context) ([]store.Placed, error) {
	placed, err := store.Collect(
		ctx,
		s.db,
		schema.Query(Engine, "database/placement"),
		(*store.Placed).Columns,
	)
	return placed, s.Wrap("find the files of tables and indexes", err)
}

var askConfiguration = schema.Query(Engine, "database/configuration")

// Advise tells what of the server's configuration a storage test should not have: monitor.Adviser.
func (s *Store) Advise(
	ctx context.Context, run time.Duration, memory int64,
) (reads string, others []string, err error) {
	var size, buffers, cache, checkpoint int64
	var direct bool
	var fsync, fullPageWrites, synchronousCommit, plans, logs, counts, activities string
	err = s.db.QueryRowContext(ctx, askConfiguration).Scan(&size, &buffers, &direct, &cache,
		&fsync, &fullPageWrites, &synchronousCommit, &checkpoint, &plans,
		&logs, &counts, &activities)
	if err != nil {
		return "", nil, s.Wrap("ask for the server's configuration", err)
	}
	if direct { // past the kernel's cache
		memory = buffers
	}
	cache = max(cache, buffers)
	switch {
	case size < memory:
		reads = fmt.Sprintf(
			"the database of %d MB fits into the %d MB of memory that its server may use: "+
				"its reads come from there and test no storage",
			size/1e6,
			memory/1e6,
		)
	case memory == 0 && size < cache:
		reads = fmt.Sprintf(
			"the database of %d MB fits into the memory that the server counts on for caching, %d MB "+
				"(the greater of shared_buffers and effective_cache_size): the drives see almost no reads",
			size/1e6,
			cache/1e6,
		)
	}
	for _, setting := range []struct{ value, off string }{
		{fsync, "fsync is off: commits do not wait for the drives, and a crash may lose the database"},
		{fullPageWrites, "full_page_writes is off: the log is smaller than with it on, " +
			"and a crash may lose the database"},
		{synchronousCommit, "synchronous_commit is off: commits do not wait for the log, " +
			"and a crash may lose the last of them"},
		{counts, "track_counts is off: autovacuum does not run, and rows that others change are not counted"},
		{activities, "track_activities is off: waits and other clients' sessions are not seen"},
	} {
		if setting.value == "off" {
			others = append(others, setting.off)
		}
	}
	if logs != "" {
		others = append(
			others,
			logs+": the server writes a line for each statement, which costs CPU time and writes",
		)
	}
	if plans != "" {
		others = append(
			others,
			plans+", which is not the server's default: reads and CPU time per statement differ",
		)
	}
	if every := time.Duration(checkpoint) * time.Second; run > 0 && every > run {
		others = append(
			others,
			fmt.Sprintf("checkpoint_timeout is %s and the run lasts %s: it may end before "+
				"the first checkpoint writes anything out; make the run longer, or lower checkpoint_timeout", every, run),
		)
	}
	return reads, others, nil
}
