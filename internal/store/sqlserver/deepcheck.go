package sqlserver

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"ds2/internal/progress"
	"ds2/internal/store"
)

// MayDeepCheck asks whether the user may have the database checked, as db_owner may:
// upkeep.DeepChecker.
func (s *Store) MayDeepCheck(ctx context.Context) error {
	op := "check " + s.Label()
	err := s.refuseLacking(ctx, op, "leave out --deep, or --verify deep of a run",
		"this server, Babelfish, has no DBCC CHECKDB", "")
	if err == nil { // it takes the rights of a check, and checks nothing
		_, err = s.DB().ExecContext(ctx, "DBCC CHECKDB (0) WITH ESTIMATEONLY, NO_INFOMSGS")
	}
	return s.Wrap(op, err)
}

// DeepCheck has the server check the database: upkeep.DeepChecker. A server that shows its state to
// the user is asked for the progress.
func (s *Store) DeepCheck(ctx context.Context, tell progress.Tell) (store.DeepCheck, error) {
	op := "check " + s.Label()
	result := store.DeepCheck{Damage: []store.Damage{}, Unchecked: []string{}}
	if v, err := s.askServer(ctx); err != nil || v.babelfish {
		return result, s.MayDeepCheck(ctx)
	}
	start := time.Now()
	conn, err := s.DB().Conn(ctx)
	if err != nil {
		return result, s.Wrap(op, err)
	}
	defer conn.Close()
	err = conn.QueryRowContext(ctx, query("database/pages")).
		Scan(&result.Server, &result.Checksums, &result.Objects, &result.Bytes)
	if err != nil {
		return result, s.Wrap(op, err)
	}
	stop := s.watchCommand(ctx, "DBCC%", result.Bytes, tell)
	rows, err := listNamed(ctx, conn, query("database/check"))
	stop()
	for _, row := range rows {
		if d, bad := damageOf(row); bad {
			d.Object = s.objectName(ctx, conn, d.Object)
			result.Damage = append(result.Damage, d)
		}
	}
	result.Seconds = time.Since(start).Seconds()
	return result, s.Wrap(op, err)
}

// damageOf reads a row of the check by the names of its columns, which differ a little between
// versions; its object is a number, or empty where the fault is of the whole database. Messages of
// level 10 and below inform.
func damageOf(row map[string]string) (d store.Damage, bad bool) {
	if level, err := strconv.Atoi(row["Level"]); err != nil || level <= 10 {
		return d, false
	}
	d = store.Damage{
		Object: row["ObjectId"],
		Found:  fmt.Sprintf("%s (error %s)", row["MessageText"], row["Error"]),
	}
	if row["Page"] != "" && row["Page"] != "0" {
		d.Place = fmt.Sprintf("page %s:%s", row["File"], row["Page"])
		if row["IndexId"] != "" {
			d.Place = fmt.Sprintf("index %s %s", row["IndexId"], d.Place)
		}
	}
	return d, true
}

// objectName is the name of a table by its number, or that where it has none.
func (s *Store) objectName(ctx context.Context, conn *sql.Conn, number string) string {
	object, _ := strconv.ParseInt(number, 10, 64)
	if object == 0 {
		return "database"
	}
	name := fmt.Sprintf("object %d", object)
	_ = conn.QueryRowContext(ctx, query("database/object-name"), object).Scan(&name)
	return name
}
