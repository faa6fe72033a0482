package store

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"

	"ds2/schema"
)

// Info is what the kit itself notes in a database, in the table ds2_info of names and values, so
// that driver and audit know what was loaded without being told.
type Info map[string]string

// The names in Info, besides those of a workload.
const (
	InfoState    = "state"    // StateLoading or StateReady
	InfoWorkload = "workload" // whose database it is; see Info.Workload
	InfoSize     = "size"     // what the load was asked for, such as "W"
	InfoVersion  = "kit_version"
	InfoSchema   = "schema_sum" // as the load left it, in JSON; see load.SchemaChanges
	// which audit failed, until the database is restored, reset or audited whole
	InfoFailed  = "failed_audit"
	InfoLastRun = "last_run" // its ID, and when it began

	StateLoading = "loading"
	StateReady   = "ready"
)

// Workload names the workload whose database it is.
func (i Info) Workload() string { return i[InfoWorkload] }

// Number is a number that is noted.
func (i Info) Number(name string) (uint64, error) {
	n, err := strconv.ParseUint(i[name], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read table ds2_info: %s is %q, not a number", name, i[name])
	}
	return n, nil
}

// maxInfo is what the notes of a database may come to in bytes: ds2 writes a thousandth of it.
const maxInfo = 1 << 20

// ReadInfo reads ds2_info. A database that DS2's own scripts loaded has none: Database.Wrap makes
// an error of class Config of what ReadInfo then returns.
func ReadInfo(ctx context.Context, db *sql.DB) (Info, error) {
	info := Info{}
	bytes := 0
	err := Each(ctx, db, maxInfo, schema.Note("notes", nil), func(note pair[string]) error {
		info[note.Name] = note.Value
		if bytes += len(note.Name) + len(note.Value); bytes > maxInfo {
			return fmt.Errorf("it has more than %d bytes: ds2 did not write it", maxInfo)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read table ds2_info: %w", err)
	}
	return info, nil
}

// SetInfo notes a value under a name in ds2_info, in place of the one that stands there; an empty
// one leaves none.
func SetInfo(ctx context.Context, db *sql.DB, name, value string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after Commit
	note := pair[string]{name, value}
	_, err = tx.ExecContext(ctx, schema.Note("forget", note))
	if err == nil && value != "" {
		_, err = tx.ExecContext(ctx, schema.Note("note", note))
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// CheckReady is an error of class Config where the load that made the database has not come to its
// end.
func (i Info) CheckReady() error {
	if i[InfoState] == StateReady {
		return nil
	}
	return Refuse("check the state of the database",
		"finish it with ds2 load --resume, or start again with ds2 load --drop",
		"its load was not finished")
}
