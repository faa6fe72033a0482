// Package sqlservertest gives tests a real server that speaks SQL Server's protocol, where one is
// asked for, and a database on it for each test.
package sqlservertest

import (
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	mssqldb "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/modules/mssql"
)

// variable names a server that tests may make databases on, or is inContainer. Where it is set, a
// server that cannot be reached is a failure.
const variable = "DS2_TEST_SQLSERVER_URL"

// inContainer asks for Microsoft's own SQL Server in a container. It is asked for and not taken
// wherever Docker answers, because who starts it accepts Microsoft's licence, and it is an image of
// 2 GB.
const inContainer = "docker"

var databases atomic.Int64

// Database is the URL of a database that does not exist yet and is dropped when the test ends. A
// test is skipped where no server is asked for.
func Database(t testing.TB) string {
	t.Helper()
	text := os.Getenv(variable)
	switch text {
	case "":
		t.Skip("no SQL Server to test on: set " + variable + " to the URL of one, or to " + inContainer +
			" to start Microsoft's in a container, which accepts its licence")
	case inContainer:
		text = startContainer(t)
	}
	target, err := url.Parse(text)
	require.NoError(t, err, "%s is not a URL", variable)
	name := fmt.Sprintf("ds2_test_%d_%d", os.Getpid(), databases.Add(1))
	t.Cleanup(func() {
		db := openMaster(t, *target)
		defer db.Close()
		_, err = db.Exec("DROP DATABASE IF EXISTS " + mssqldb.TSQLQuoter{}.ID(name))
		assert.NoError(t, err, "drop the test's database")
	})
	return onDatabase(*target, name)
}

// IsBabelfish tells whether a database's server is Babelfish for PostgreSQL.
func IsBabelfish(t testing.TB, target string) bool {
	t.Helper()
	u, err := url.Parse(target)
	require.NoError(t, err)
	db := openMaster(t, *u)
	defer db.Close()
	var babelfish sql.NullInt64
	const query = "SELECT CAST(SERVERPROPERTY('Babelfish') AS int)"
	require.NoError(t, db.QueryRow(query).Scan(&babelfish))
	return babelfish.Int64 == 1
}

func openMaster(t testing.TB, target url.URL) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlserver", onDatabase(target, "master"))
	require.NoError(t, err)
	return db
}

// onDatabase is the URL of a database on the server.
func onDatabase(target url.URL, database string) string {
	q := target.Query()
	q.Set("database", database)
	target.RawQuery = q.Encode()
	return target.String()
}

// startContainer starts a SQL Server that ends with the test and returns its URL.
func startContainer(t testing.TB) string {
	t.Helper()
	_, file, _, _ := runtime.Caller(0) // beside the Dockerfile, whichever package's tests run
	image := testcontainers.FromDockerfile{Context: filepath.Join(filepath.Dir(file), "testdata")}
	server, err := mssql.Run(
		t.Context(), "", mssql.WithAcceptEULA(), testcontainers.WithDockerfile(image))
	testcontainers.CleanupContainer(t, server)
	require.NoError(t, err)
	target, err := server.ConnectionString(t.Context(), "encrypt=disable")
	require.NoError(t, err)
	return target
}
