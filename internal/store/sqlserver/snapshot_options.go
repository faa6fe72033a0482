package sqlserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"ds2/internal/store/sqlserver/target"
)

// askOptions asks for what ALTER DATABASE sets and a restore brings back as it was at the backup, and who owns the
// database.
const askOptions = "SELECT *, SUSER_SNAME(owner_sid) AS owner FROM sys.databases WHERE name = @p1"

// databaseOption is one of them: the column of askOptions that shows it, which older servers may not have, and the
// clause of ALTER DATABASE that sets it. One without a clause is not set back.
type databaseOption struct{ column, clause string }

var databaseOptions = []databaseOption{
	{"owner", ""}, // by ALTER AUTHORIZATION
	{"compatibility_level", "COMPATIBILITY_LEVEL = %s"},
	{"recovery_model_desc", "RECOVERY %s"},
	{"page_verify_option_desc", "PAGE_VERIFY %s"},
	{"delayed_durability_desc", "DELAYED_DURABILITY = %s"},
	{"target_recovery_time_in_seconds", "TARGET_RECOVERY_TIME = %s SECONDS"},
	{"snapshot_isolation_state_desc", "ALLOW_SNAPSHOT_ISOLATION %s"},
	{"is_read_committed_snapshot_on", "READ_COMMITTED_SNAPSHOT %s WITH ROLLBACK IMMEDIATE"},
	{"is_accelerated_database_recovery_on", "ACCELERATED_DATABASE_RECOVERY = %s WITH ROLLBACK IMMEDIATE"},
	{"is_query_store_on", "QUERY_STORE = %s"},
	{"is_auto_create_stats_on", "AUTO_CREATE_STATISTICS %s"},
	{"is_auto_update_stats_on", "AUTO_UPDATE_STATISTICS %s"},
	{"is_auto_update_stats_async_on", "AUTO_UPDATE_STATISTICS_ASYNC %s"},
	{"is_parameterization_forced", "PARAMETERIZATION %s"},
	{"is_auto_shrink_on", "AUTO_SHRINK %s"},
	{"is_trustworthy_on", "TRUSTWORTHY %s"},
	{"containment_desc", "CONTAINMENT = %s"},
	{"is_encrypted", ""}, // all pages would be written again
}

// statement sets the option of a database to what askOptions gave; empty: it cannot.
func (o databaseOption) statement(database, value string) string {
	words := map[string]string{"true": "ON", "false": "OFF"}
	if o.column == "is_parameterization_forced" {
		words = map[string]string{"true": "FORCED", "false": "SIMPLE"}
	}
	if word, ok := words[value]; ok {
		value = word
	}
	switch {
	case o.column == "owner":
		return "ALTER AUTHORIZATION ON DATABASE::" + target.QuoteName(database) + " TO " + target.QuoteName(value)
	case o.clause == "":
		return ""
	}
	return "ALTER DATABASE " + target.QuoteName(database) + " SET " + fmt.Sprintf(o.clause, value)
}

// options are what askOptions says of the database, by column.
func (s *Store) options(ctx context.Context, master *sql.DB) (found map[string]string, err error) {
	err = target.Named(ctx, master, askOptions, func(row map[string]string) { found = row }, s.Name())
	return found, err
}

// setBack sets the options that differ, of those that both know, to what they were before, and warns of those that it
// cannot set.
func (s *Store) setBack(ctx context.Context, master *sql.DB, before, after map[string]string, warn func(string)) {
	for _, o := range databaseOptions {
		was, known := before[o.column]
		is, still := after[o.column]
		if !known || !still || was == is {
			continue
		}
		err := errors.New("ds2 does not set it")
		if statement := o.statement(s.Name(), was); statement != "" {
			_, err = master.ExecContext(ctx, statement)
		}
		if err != nil {
			warn(fmt.Sprintf("%s: %s was %s and is %s after the restore: set it again, or make the snapshot again once it is set: %v",
				s.Label(), o.column, was, is, err))
		}
	}
}
