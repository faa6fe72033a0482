package postgres_test

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/load"
	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
	"ds2/internal/storetest"
	"ds2/schema"
)

// tiny is a dataset for tests that only want to know whether everything can be done.
var tiny = datagen.Size{Customers: 100, OrdersPerMonth: 5, Products: 100}

// logIn connects and has a user log in.
func logIn(t *testing.T, s *postgres.Store) {
	t.Helper()
	customer, _, err := connect(t, s).Login(t.Context(), []byte("user7"), []byte("password"))
	assert.True(t, err == nil && customer == 7, "login: %d, %v", customer, err)
}

// TestRoleThatOwnsTheDatabaseOnly has a user without any right but to its own database do all there
// is to do, with a password of characters that URLs, connection strings and password files treat as
// their own.
func TestRoleThatOwnsTheDatabaseOnly(t *testing.T) {
	const password = `a b:c@d/e?f#g%h&i=j\k'l"m+ü[]{}`
	admin := open(t, pgtest.Database(t))
	pgtest.Exec(t, admin.DB(),
		"CREATE ROLE plain LOGIN PASSWORD '"+`a b:c@d/e?f#g%h&i=j\k''l"m+ü[]{}`+"'",
		"CREATE DATABASE plain OWNER plain", "REVOKE ALL ON DATABASE plain FROM PUBLIC")
	t.Cleanup(func() {
		pgtest.Exec(t, admin.DB(), "DROP DATABASE plain WITH (FORCE)", "DROP ROLE plain")
	})
	target, err := url.Parse(pgtest.Server(t).URL("plain"))
	require.NoError(t, err)
	target.User = url.UserPassword("plain", password)
	s := open(t, target.String())
	storetest.Load(t, s, tiny)
	logIn(t, s)
	reset(t, s, silent)
	_, err = s.Placement(t.Context())
	assert.NoError(t, err)
	holder := store.Holder{Command: "drive", PID: 1, Host: "here", Since: time.Unix(1e9, 0).UTC()}
	unlock, err := admin.Lock(
		t.Context(),
		store.Lock{Holder: holder},
	) // of another database: no hindrance
	require.NoError(t, err)
	defer unlock()
	unlock, err = open(
		t,
		pgtest.Server(t).URL("plain"),
	).Lock(t.Context(), store.Lock{Holder: holder})
	// as a superuser
	require.NoError(t, err)
	defer unlock()
	_, err = s.Lock(t.Context(), store.Lock{Holder: holder})
	e, ok := errors.AsType[*store.LockedError](err)
	assert.True(
		t,
		ok && e.By == holder,
		"lock: %v, want it held by %s, also in the eyes of this role",
		err,
		holder,
	)
	_, _, err = s.Advise(t.Context(), time.Minute, 0)
	assert.NoError(t, err)

	t.Run("password file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "pgpass")
		const escaped = `a b\:c@d/e?f#g%h&i=j\\k'l"m+ü[]{}`
		line := fmt.Sprintf("%s:%s:plain:plain:%s\n", target.Hostname(), target.Port(), escaped)
		require.NoError(t, os.WriteFile(file, []byte(line), 0o600))
		t.Setenv("PGPASSFILE", file)
		without := *target
		without.User = url.User("plain")
		logIn(t, open(t, without.String()))
	})
	t.Run("variables", func(t *testing.T) {
		t.Setenv("PGUSER", "plain")
		t.Setenv("PGPASSWORD", password)
		t.Setenv("PGHOST", target.Hostname())
		t.Setenv("PGPORT", target.Port())
		logIn(t, open(t, "postgres:///plain"))
	})
	t.Run("options", func(t *testing.T) {
		with := *target
		with.RawQuery = "application_name=mine&options=-c%20work_mem%3D4321kB"
		const ask = "SELECT concat(current_setting('work_mem'), ' ', current_setting('application_name'))"
		assert.Equal(t, "4321kB mine", pgtest.Value[string](t, open(t, with.String()).DB(), ask))
	})
}

// TestParametersOfLibpq: what ds2 does not keep of libpq's parameters is refused by name.
func TestParametersOfLibpq(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "key.pem")
	block := pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte{1}}
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&block), 0o600))
	for parameters, want := range map[string]string{
		"load_balance_hosts=disable":        "",
		"ssl_min_protocol_version=TLSv1.2":  "",
		"load_balance_hosts=random":         "does not take the parameter load_balance_hosts: name",
		"requirepeer=postgres":              "requirepeer: leave it out",
		"sslcrl=/etc/crl.pem":               "sslcrl: leave it out",
		"ssl_min_protocol_version=SSLv3":    `ssl_min_protocol_version is "SSLv3": write TLSv1`,
		"min_protocol_version=3.2":          "min_protocol_version is 3.2: leave it out",
		"sslmode=require&sslkey=" + key:     key + " is encrypted in a form that ds2 does not read",
		"sslpassword=secret&sslkey=" + key:  "openssl rsa",
		"sslmode=require&sslkey=/dev/zero":  "sslkey: /dev/zero is not a regular file",
		"sslrootcert=/dev/zero":             "sslrootcert: /dev/zero is not a regular file",
		"gssencmode=disable&keepalives=1":   "",
		"sslmode=disable&sslkey=/not/there": "",
	} {
		target, err := url.Parse("postgres://ds2@localhost/ds2?" + parameters)
		require.NoError(t, err)
		_, err = postgres.Open(target)
		if want == "" {
			assert.NoError(t, err, parameters)
			continue
		}
		require.Error(t, err, parameters)
		assert.Contains(t, err.Error(), want)
		assert.NotContains(t, err.Error(), "secret")
	}
}

// TestIdleUser thinks longer than the server lets a session be idle.
func TestIdleUser(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.Database(t))
	if pgtest.Value[int](
		t,
		s.DB(),
		"SELECT current_setting('server_version_num')::integer",
	) < 140000 {
		t.Skip("versions before 14 have no limit")
	}
	pgtest.Exec(t, s.DB(), "ALTER DATABASE "+s.Name()+" SET idle_session_timeout = '100ms'")
	user, err := s.ConnectUser(t.Context(), schema.Statement{Name: "one", SQL: "SELECT 1"})
	require.NoError(t, err)
	defer user.Close(t.Context())
	time.Sleep(500 * time.Millisecond)
	user.Call(&schema.Statement{Name: "one", SQL: "SELECT 1"})
	assert.NoError(t, user.Each(t.Context(), false, func([][]byte) bool { return true }))
}

// TestNotPostgres connects to a web server, and to a proxy whose server is gone.
func TestNotPostgres(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n400 Bad Request": "what answers there is not PostgreSQL",
		"": "the server closed the connection; check what listens there",
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer listener.Close()
		go func() {
			for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
				_, _ = io.WriteString(conn, answer)
				conn.Close()
			}
		}()
		for _, mode := range []string{"disable", "prefer"} {
			s := open(t, "postgres://ds2@"+listener.Addr().String()+"/ds2?sslmode="+mode)
			assert.ErrorContains(t, s.Wrap("ask", s.DB().PingContext(t.Context())), want, mode)
		}
	}
}

// TestTLSAndSocket uses a separate server that takes nothing but TLS over the network, and has a
// Unix socket.
func TestTLSAndSocket(t *testing.T) {
	t.Parallel()
	directory := serverDirectory(t)
	certificate, key := selfSigned(t, directory)
	server := pgtest.Start(t, localpg.Options{Settings: map[string]string{
		"ssl":                     "on",
		"ssl_cert_file":           certificate,
		"ssl_key_file":            key,
		"unix_socket_directories": directory,
	}})
	target, err := url.Parse(server.URL("ds2"))
	require.NoError(t, err)

	encrypted := *target
	encrypted.RawQuery = url.Values{
		"sslmode":     {"verify-full"},
		"sslrootcert": {certificate},
	}.Encode()
	s := open(t, encrypted.String())
	storetest.Load(t, s, tiny)
	logIn(t, s)
	assert.True(
		t,
		pgtest.Value[bool](t, s.DB(), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"),
	)

	old := *target
	old.RawQuery = "ssl_min_protocol_version=TLSv1.3"
	logIn(t, open(t, old.String()))
	pgtest.Exec(
		t,
		s.DB(),
		"ALTER SYSTEM SET ssl_max_protocol_version = 'TLSv1.2'",
		"SELECT pg_reload_conf()",
	)
	pgtest.Await(t, s.DB(), "SELECT current_setting('ssl_max_protocol_version') = 'TLSv1.2'")
	_, err = open(t, old.String()+"&sslmode=require").ConnectUser(t.Context())
	assert.ErrorContains(t, err, "protocol version")

	stranger := *target
	// by the system's certificates, which this one is not of
	stranger.RawQuery = "sslmode=verify-full"
	_, err = open(t, stranger.String()).ConnectUser(t.Context())
	assert.Equal(
		t,
		store.Connection,
		store.Classify(err),
		"a certificate of an unknown authority: %v",
		err,
	)

	password, _ := target.User.Password()
	socket := url.URL{
		Scheme: "postgres", Path: "/ds2", User: url.UserPassword(localpg.User, password),
		RawQuery: url.Values{"host": {directory}, "port": {target.Port()}}.Encode(),
	}
	logIn(t, open(t, socket.String()))
}

// selfSigned gives files of a certificate for 127.0.0.1 and its key, owned by the server's user.
func selfSigned(t *testing.T, directory string) (certificate, key string) {
	t.Helper()
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	pair := web.TLS.Certificates[0]
	secret, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	certificate = filepath.Join(directory, "server.crt")
	key = filepath.Join(directory, "server.key")
	for path, block := range map[string]*pem.Block{
		certificate: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: secret},
	} {
		require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
		giveTo(t, directory, path)
	}
	return certificate, key
}

// TestLoadWhoseServerDies kills a server in the middle of a load, in the data and while indexes are
// built: the error says that the server closed the connection. The load is resumed, and says what
// it found. All is there, too, after a kill as soon as it has returned.
func TestLoadWhoseServerDies(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{})
	o := storetest.Loading(t, small, 100)
	o.AtOnce = 2
	o.Resume = true
	for _, phase := range []schema.Phase{schema.Data, schema.Indexes} {
		steps := map[schema.Phase]int64{schema.Data: 2000, schema.Indexes: 1}[phase]
		o.Progress = &storetest.Breaker{Phase: phase, Left: steps, How: server.Kill}
		_, err := load.Run(t.Context(), open(t, server.URL("ds2")), o)
		// What the first session to fail heard: nothing more, that the postmaster is gone, or no
		// answer.
		said := regexp.MustCompile("the server closed the connection|57P01|connection refused")
		assert.True(t, store.Classify(err) == store.Connection && said.MatchString(err.Error()),
			"killed in phase %s: %v", phase, err)
		require.NoError(t, server.Restart(t.Context()))
	}
	o.Progress = nil
	report, err := load.Run(t.Context(), open(t, server.URL("ds2")), o)
	require.NoError(t, err)
	server.Kill()
	require.NoError(t, server.Restart(t.Context()))
	s := open(t, server.URL("ds2")) // as another ds2 does: the first one's connections are gone
	for _, table := range report.Tables {
		rows := pgtest.Value[int64](t, s.DB(), "SELECT count(*) FROM "+string(table.Table))
		assert.Equal(t, rows, table.Rows, "%s: rows reported", table.Table)
		assert.Equal(t, rows, table.Before, "%s: rows that were loaded before", table.Table)
	}
	info, err := store.ReadInfo(t.Context(), s.DB())
	require.NoError(t, err)
	assert.NoError(t, info.CheckReady())
	logIn(t, s)
}
