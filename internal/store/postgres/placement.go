package postgres

import (
	"context"
	"errors"
	"regexp"
	"strings"

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
	err = conn.QueryRow(ctx, query("server/tablespace"), place).Scan(&name)
	if !errors.Is(err, pgx.ErrNoRows) {
		return name, err
	}
	if !strings.HasPrefix(place, "/") {
		return "", store.Refuse("look for tablespace "+place, "make it with CREATE TABLESPACE, or name a directory on the server, which begins with /", "there is no tablespace of that name")
	}
	name = "ds2_" + strings.Trim(notWord.ReplaceAllString(strings.ToLower(place), "_"), "_")
	name = name[:min(len(name), maxName)]
	create := "CREATE TABLESPACE " + quoteName(name) + " LOCATION " + schema.Literal(place)
	_, err = conn.Exec(ctx, create)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return "", &store.Error{
			Op:    "make a tablespace in " + place,
			Class: store.Config,
			Code:  e.Code,
			Err:   serverError{PgError: e},
			Hint:  "it must be an empty directory on the server, owned by the user that the server runs as, and the target's user a superuser",
		}
	}
	return name, err
}

var notWord = regexp.MustCompile("[^a-z0-9]+")

// Placement lists where tables and indexes lie: audit.Placer.
func (s *Store) Placement(ctx context.Context) ([]store.Placed, error) {
	ask := query("database/placement")
	placed, err := store.Collect[store.Placed](ctx, s.db, ask)
	return placed, s.Wrap("find the files of tables and indexes", err)
}
