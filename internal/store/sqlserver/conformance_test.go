package sqlserver_test

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/modules/mssql"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/store"
	"ds2/internal/store/sqlserver"
	"ds2/internal/store/storetest"
)

// targetVariable names a server that the conformance suite may make databases on, or is inContainer. Where it is set, a
// server that cannot be reached is a failure.
const targetVariable = "DS2_TEST_SQLSERVER_URL"

// inContainer asks for Microsoft's own SQL Server in a container. It is asked for and not taken wherever Docker answers,
// because who starts it accepts Microsoft's licence, and it is an image of 2 GB.
const inContainer = "docker"

// killOthers is storetest.Engine.Kill.
const killOthers = `DECLARE @sql varchar(max) = '';
	SELECT @sql = @sql + 'KILL ' + CAST(session_id AS varchar(10)) + '; '
	FROM sys.dm_exec_sessions WHERE database_id = DB_ID() AND session_id <> @@SPID AND is_user_process = 1;
	EXEC(@sql);`

func TestConformance(t *testing.T) {
	target := os.Getenv(targetVariable)
	switch target {
	case "":
		t.Skip("no SQL Server to test on: set " + targetVariable + " to the URL of one, or to " + inContainer +
			" to start Microsoft's in a container, which accepts its licence")
	case inContainer:
		target = container(t)
	}
	storetest.Run(t, storetest.Engine{
		Open: func(t *testing.T) store.Store { return loaded(t, target, storetest.Size) },
		Kill: killOthers,
	})
}

// container starts a SQL Server that ends with the test and returns its URL.
func container(t *testing.T) string {
	t.Helper()
	server, err := mssql.Run(t.Context(), "", mssql.WithAcceptEULA(),
		testcontainers.WithDockerfile(testcontainers.FromDockerfile{Context: "testdata"}))
	testcontainers.CleanupContainer(t, server)
	if err != nil {
		t.Fatal(err)
	}
	target, err := server.ConnectionString(t.Context(), "encrypt=disable")
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// loaded is a store whose database is fresh, holds a dataset of the size and is dropped when the test ends.
func loaded(t *testing.T, target string, size datagen.Size) *sqlserver.Store {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatalf("%s is not a URL", targetVariable)
	}
	server, err := sqlserver.Open(u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	name := fmt.Sprintf("ds2_test_%d_%s", os.Getpid(), strings.ToLower(t.Name()))
	q := u.Query()
	q.Set("database", name)
	u.RawQuery = q.Encode()
	s, err := sqlserver.Open(u)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if _, err := server.DB().Exec("DROP DATABASE IF EXISTS [" + name + "]"); err != nil {
			t.Error(err)
		}
	})
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
	return s.(*sqlserver.Store)
}
