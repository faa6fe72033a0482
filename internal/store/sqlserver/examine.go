package sqlserver

import (
	"context"
	"fmt"

	"ds2/internal/store"
)

// ownConnections are those of ds2 itself beside its users': counters, and the lock.
const ownConnections = 2

// Examine looks whether the server has what a run needs: store.Capabilities.
func (s *Store) Examine(ctx context.Context, users int) (store.Examination, error) {
	e := store.Examination{LogGrowth: -1}
	v, err := s.ask(ctx)
	if err != nil {
		return e, err
	}
	if v.babelfish {
		e.Add("server", false, store.Warning,
			"this server is Babelfish for PostgreSQL, which tells little of itself through T-SQL",
			"look yourself for its connections and rights")
		return e, nil
	}
	var version, user string
	var writable, execute, state bool
	var most, inUse int
	err = s.db.QueryRowContext(ctx, `
		SELECT CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(128)), ISNULL(SUSER_SNAME(), ''),
			CAST(CASE DATABASEPROPERTYEX(DB_NAME(), 'Updateability') WHEN 'READ_WRITE' THEN 1 ELSE 0 END AS bit),
			CAST(ISNULL(HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'EXECUTE'), 0) AS bit),
			CAST(ISNULL(CASE SERVERPROPERTY('EngineEdition')
				WHEN 5 THEN HAS_PERMS_BY_NAME(NULL, 'DATABASE', 'VIEW DATABASE STATE')
				ELSE HAS_PERMS_BY_NAME(NULL, NULL, 'VIEW SERVER STATE') END, 0) AS bit),
			@@MAX_CONNECTIONS, (SELECT COUNT(*) FROM sys.dm_exec_sessions WHERE is_user_process = 1)`).
		Scan(&version, &user, &writable, &execute, &state, &most, &inUse)
	if err != nil {
		return e, s.Wrap("examine the server", err)
	}
	e.Add("version", true, store.OK, "SQL Server "+version, "")
	found := "the database takes changes"
	if !writable {
		found = "the database is read-only"
	}
	e.Add("writable", writable, store.Failure, found,
		"ALTER DATABASE … SET READ_WRITE, or name the primary replica")
	needed, free := users+ownConnections, most-inUse
	found = fmt.Sprintf("%d are needed and %d free: the server allows %d, %d in use", needed, max(free, 0), most, inUse)
	if !state { // the user's own are all that it counted
		found = fmt.Sprintf("%d are needed: the server allows %d, and does not tell this user how many are in use",
			needed, most)
	}
	e.Add("connections", free >= needed, store.Failure, found,
		"raise 'user connections' with sp_configure, or use fewer --threads")
	found = user + " may call all procedures"
	if !execute {
		found = user + " may not call all procedures of the database"
	}
	e.Add("rights", execute, store.Warning, found,
		"if operations then fail: GRANT EXECUTE TO the user, or connect as the owner")
	if !state {
		e.Add("counters", false, store.Warning,
			user+" may not see the server's state: its counters and waits are not observed",
			"GRANT VIEW SERVER STATE TO the login; in Azure SQL Database VIEW DATABASE STATE TO the user")
	}
	size, used, kept, err := s.LogSpace(ctx)
	if err == nil && size > 0 { // 0: not known
		found = fmt.Sprintf("%d MB of the log's %d MB are in use", used/1e6, size/1e6)
		if kept {
			found += ", and only a backup of the log frees that"
		}
		e.Add("log", !kept || used < size/2, store.Warning, found,
			"back the log up, or load with a larger --log-size: commits wait while it grows")
	}
	return e, ctx.Err()
}
