package postgres

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5/stdlib"

	"ds2/internal/store"
)

// obstacles are what stands in the way of users or of what restores the database: each query gives
// a text for what it finds, or no row.
var obstacles = []struct {
	what      string
	state     store.State
	query, do string
}{
	{
		"synchronous standby", store.Failure, `
		SELECT format('synchronous_standby_names is %L, and no standby is connected: each commit would wait for ever',
			current_setting('synchronous_standby_names'))
		WHERE current_setting('synchronous_standby_names') <> ''
			AND current_setting('synchronous_commit') NOT IN ('off', 'local')
			AND NOT EXISTS (SELECT FROM pg_stat_replication)`,
		"start the standby, or empty synchronous_standby_names",
	},
	{
		"row security", store.Failure, `
		SELECT 'policies hide rows of ' || string_agg(relname, ', ' ORDER BY relname) || ' from ' || current_user
		FROM pg_class WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind = 'r'
			AND row_security_active(oid) HAVING count(*) > 0`,
		"ALTER TABLE … DISABLE ROW LEVEL SECURITY, or connect as the owner",
	},
	{
		"triggers", store.Failure, `
		SELECT 'session_replication_role is replica: no foreign key is checked and no trigger fires'
		WHERE current_setting('session_replication_role') = 'replica'`,
		"ALTER ROLE … RESET session_replication_role, also in the database and the server",
	},
	{
		"time limits", store.Warning, `
		SELECT string_agg(format('%s is %s ms', name, reset_val), ', ' ORDER BY name)
			|| ': the server ends what takes longer, which counts as errors'
		FROM pg_settings WHERE reset_val NOT IN ('0', '-1') AND name IN ('statement_timeout', 'lock_timeout',
			'transaction_timeout', 'idle_in_transaction_session_timeout') HAVING count(*) > 0`,
		"set them to 0 for the user",
	},
	{
		"time limits", store.OK, `
		SELECT format('idle_session_timeout is %s ms, which ds2 turns off in its own sessions', reset_val)
		FROM pg_settings WHERE name = 'idle_session_timeout' AND reset_val <> '0'`, "",
	},
	{
		"I/O times",
		store.Warning,
		`
		SELECT string_agg(name, ' and ' ORDER BY name) || ' off: how long the server waits for '
			|| string_agg(CASE name WHEN 'track_io_timing' THEN 'reads' ELSE 'its log' END, ' and ' ORDER BY name)
			|| ' stays unknown, and limits on these see the drives alone,'
			|| ' not what holds I/Os back above them'
		FROM pg_settings
		WHERE name IN ('track_io_timing', 'track_wal_io_timing') AND setting = 'off' HAVING count(*) > 0`,
		"ALTER SYSTEM SET … = on, and SELECT pg_reload_conf(); it costs two clock readings per I/O, which " +
			"pg_test_timing measures: tens of nanoseconds each, on some virtual machines a microsecond",
	},
	{
		"prepared transactions", store.Warning, `
		SELECT string_agg(format('%L of %s, %s s old', gid, owner,
			extract(epoch FROM now() - prepared)::bigint), ', ' ORDER BY prepared) || ', may hold locks'
		FROM pg_prepared_xacts WHERE database = current_database() HAVING count(*) > 0`,
		"COMMIT PREPARED or ROLLBACK PREPARED ends each",
	},
	{
		"open transactions", store.Warning, `
		SELECT string_agg(format('process %s (%s of %s, %s for %s s)', pid, coalesce(nullif(application_name, ''),
			'no name'), usename, state, extract(epoch FROM now() - xact_start)::bigint), ', ' ORDER BY xact_start)
			|| ' may hold locks'
		FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
			AND xact_start < now() - interval '10 s' HAVING count(*) > 0`,
		"end them, or SELECT pg_terminate_backend(…)",
	},
	{"publications", store.Warning, `
		SELECT string_agg(DISTINCT p.tablename, ', ') || ' are published and have no replica identity: ' ||
			'ds2 reset cannot remove rows of them'
		FROM pg_publication_tables p
		JOIN pg_publication b ON b.pubname = p.pubname AND (b.pubupdate OR b.pubdelete)
		JOIN pg_class c ON c.relnamespace = quote_ident(p.schemaname)::regnamespace AND c.relname = p.tablename
		WHERE p.schemaname = current_schema() AND p.tablename NOT LIKE 'ds2\_%' AND (c.relreplident = 'n'
			OR c.relreplident = 'd' AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = c.oid AND indisprimary))
		HAVING count(*) > 0`, replicaIdentity},
	{
		"replication slots", store.Warning, `
		SELECT string_agg(slot_name, ', ') || ' are logical slots of this database: ' ||
			'it cannot be restored from a snapshot'
		FROM pg_replication_slots WHERE database = current_database() HAVING count(*) > 0`,
		"drop them with pg_drop_replication_slot if they are not needed",
	},
	{
		"log", store.Warning, `
		SELECT format('no client reads from the replication slots %s: the server keeps all of its log for them, ' ||
			'until its drive is full', string_agg(slot_name, ', '))
		FROM pg_replication_slots WHERE NOT active HAVING count(*) > 0`,
		"start their readers, or drop them with pg_drop_replication_slot",
	},
	{
		"log", store.Warning, `
		SELECT 'the archive command fails: the server keeps all of its log until it works, or its drive is full'
		FROM pg_stat_archiver WHERE last_failed_time > coalesce(last_archived_time, '-infinity')
			AND current_setting('archive_mode') <> 'off'`,
		"look at the server's log, and correct archive_command",
	},
}

// replicaIdentity is what to do about rows that cannot be removed for lack of a replica identity.
const replicaIdentity = "ALTER TABLE … REPLICA IDENTITY FULL, or restore by --restore snapshot"

// noReplicaIdentity is the SQLSTATE of a table that does not allow what is asked, as a reset of one
// that is published.
const noReplicaIdentity = "55000"

// examineSurroundings looks for obstacles.
func (s *Store) examineSurroundings(ctx context.Context, e *store.Examination) {
	for _, o := range obstacles {
		var found sql.NullString
		err := s.db.QueryRowContext(ctx, o.query).Scan(&found)
		switch {
		case err == nil && found.Valid:
			e.Add(o.what, o.state == store.OK, o.state, found.String, o.do)
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			e.Add(
				o.what,
				false,
				store.Warning,
				"could not be asked: "+s.Wrap("ask for it", err).Error(),
				o.do,
			)
		}
	}
}

// examinePooler looks whether what answers is a pooler, by the number of the session's process, and
// whether it gives one session to two clients.
func (s *Store) examinePooler(ctx context.Context, e *store.Examination) {
	// A statement that one of the clients has prepared the other finds there already, or its own is
	// gone.
	var pids [2]uint32
	var said uint32
	var err error
	for i := range pids {
		var client *sql.Conn
		if client, err = s.db.Conn(ctx); err != nil {
			break
		}
		defer client.Close()
		_ = client.Raw(func(c any) error {
			said = c.(*stdlib.Conn).Conn().PgConn().PID()
			return nil
		})
		if err = client.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pids[i]); err != nil {
			break
		}
	}
	const do = "connect to the server itself"
	switch shared := err == nil && pids[0] == pids[1]; {
	case shared || store.Classify(s.Wrap("ask", err)) == store.Config:
		e.Add(
			"pooler",
			false,
			store.Failure,
			"a pooler gives each transaction another session: locks, settings and "+
				"prepared statements of a session are lost",
			do,
		)
	case err == nil && said != pids[1]:
		e.Add(
			"pooler",
			false,
			store.Warning,
			"a pooler answers, not the server: its overhead is measured too",
			do,
		)
	}
}
