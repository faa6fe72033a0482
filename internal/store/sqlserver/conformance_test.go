package sqlserver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver"
	"ds2/internal/store/sqlserver/servertest"
	"ds2/internal/storetest"
	ds2sqlserver "ds2/internal/workload/ds2/sqlserver"
)

// killOthers is storetest.Engine.Kill.
const killOthers = `DECLARE @sql varchar(max) = '';
	SELECT @sql = @sql + 'KILL ' + CAST(session_id AS varchar(10)) + '; '
	FROM sys.dm_exec_sessions WHERE database_id = DB_ID() AND session_id <> @@SPID AND is_user_process = 1;
	EXEC(@sql);`

func TestConformance(t *testing.T) {
	e := storetest.Engine{
		Open: sqlserver.Open, Calls: ds2sqlserver.Connect, Database: servertest.Database, Kill: killOthers,
		Phrase: true, OtherCalls: func(s store.Database) { s.(*sqlserver.Store).UseWire() },
	}
	babelfish, err := servertest.IsBabelfish(servertest.Database(t))
	require.NoError(t, err)
	if babelfish {
		e.Missing = store.Bug // its number for that is the one for everything that it has none for
	}
	storetest.Run(t, e)
}
