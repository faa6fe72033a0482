package sqlserver_test

import (
	"net/url"
	"testing"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/store"
	"ds2/internal/store/sqlserver"
	"ds2/internal/store/sqlserver/servertest"
	"ds2/internal/storetest"
)

// killOthers is storetest.Engine.Kill.
const killOthers = `DECLARE @sql varchar(max) = '';
	SELECT @sql = @sql + 'KILL ' + CAST(session_id AS varchar(10)) + '; '
	FROM sys.dm_exec_sessions WHERE database_id = DB_ID() AND session_id <> @@SPID AND is_user_process = 1;
	EXEC(@sql);`

func TestConformance(t *testing.T) {
	target := servertest.Database(t)
	storetest.Run(t, storetest.Engine{
		Open: func(t *testing.T) store.Store { return loaded(t, target, storetest.Size) },
		Kill: killOthers, Phrase: true,
	})
}

// loaded is a store whose database holds a dataset of the size, and nothing else.
func loaded(t *testing.T, target string, size datagen.Size) store.Store {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlserver.Open(u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	data, err := datagen.New(size, datagen.DefaultWords(), datagen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = load.Run(t.Context(), s.(*sqlserver.Store), load.Options{
		Size: size, Words: datagen.DefaultWords().Sum(), Parts: data.Parts(), AtOnce: 4,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
