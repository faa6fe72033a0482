//go:debug x509negativeserial=1

package sqlserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	"ds2/internal/tdstest"
	"ds2/schema"
)

// Further token streams with which SQL Server ends a login, in the words of sys.messages.
var (
	// As DONE has it where the server marks the message as an error: [MS-TDS] 2.2.7.6.
	fallsBackMarked = tdstest.Decision{Answer: tdstest.Failed(
		tdstest.Error(4063, 1, 11, `Cannot open database "DS2" that was requested by the login.`),
		tdstest.InMaster,
	)}
	noDefault = tdstest.Refuse(
		tdstest.Error(
			4061,
			1,
			11,
			`Cannot open either database "DS2" or the user default database.`,
		),
		tdstest.LoginFailed,
	)
)

// TestLoginAnswers has a server answer LOGIN7 in each way that ends a login, before and after the
// database was reached.
func TestLoginAnswers(t *testing.T) {
	const config, lost = store.Config, store.Connection
	type login struct {
		clause        string
		answer        tdstest.Decision
		code          int32
		before, after store.Class
	}
	refused := func(number int32, class byte, why string, before, after store.Class) login {
		answer := tdstest.Refuse(tdstest.Error(number, 1, class, why))
		return login{
			fmt.Sprintf("2.2.7.10 ERROR %d: %s", number, why),
			answer,
			number,
			before,
			after,
		}
	}
	for _, c := range []login{
		{
			"2.2.7.10 ERROR 4063, then LOGINACK: the database is not there", tdstest.FallsBack,
			4063, config, lost,
		},
		{"2.2.7.6 the same, and DONE_ERROR", fallsBackMarked, 4063, config, lost},
		{"2.2.7.10 ERROR 4060, then 18456", tdstest.NoDatabase, 4060, config, lost},
		{"2.2.7.10 ERROR 4061, then 18456", noDefault, 4061, config, lost},
		refused(18456, 14, "wrong password, or any of its states", config, lost),
		refused(17187, 16, "SQL Server is not ready to accept new client connections", lost, lost),
		refused(
			17188, 16, "SQL Server cannot accept new connections, because it is being shut down",
			lost, lost,
		),
		refused(
			17189, 16, "SQL Server failed with error code 0xc0000000 to spawn a thread", lost, lost,
		),
		refused(17148, 16, "SQL Server is terminating because of a system shutdown", lost, lost),
		refused(
			978, 14, "The target database is in an availability group: not the primary replica",
			config, lost,
		),
		refused(
			40613, 17, "Database 'DS2' is not currently available: Azure is waking it", lost, lost,
		),
		refused(
			49918, 16, "Not enough resources: Azure has no room", store.Resource, store.Resource,
		),
		refused(
			babelfishUnmapped, 16, "the database system is not yet accepting connections",
			store.Bug, lost,
		),
		refused(20001, 20, "a class that closes the connection", store.Resource, store.Resource),
	} {
		t.Run(c.clause, func(t *testing.T) {
			let := true
			server := tdstest.Start(
				t,
				tdstest.Options{Decide: func(l tdstest.Login) tdstest.Decision {
					assert.True(
						t,
						!l.MustHave && l.Database == "DS2" && l.User == "user",
						"login %+v",
						l,
					)
					if let {
						return tdstest.Decision{}
					}
					return c.answer
				}},
			)
			for reached, class := range map[bool]store.Class{false: c.before, true: c.after} {
				s := openURL(t, server.URL("DS2"))
				if let = reached; reached {
					connect(t, s)
				}
				let = false
				_, err := s.ConnectUser(t.Context(), procedure)
				e, ok := err.(*store.Error)
				assert.True(
					t,
					ok && e.Code == fmt.Sprint(c.code) && e.Class == class,
					"reached before: %v: got %#v, want code %d and class %s",
					reached,
					err,
					c.code,
					class,
				)
				denies := 4060 <= c.code && c.code <= 4063 // the database, so ds2 load asks master
				assert.Equal(t, denies, deniesDatabase(err), "reached before: %v: %v", reached, err)
				err = s.DB().PingContext(t.Context())
				assert.Equal(
					t,
					denies,
					deniesDatabase(err),
					"reached before: %v: pool: %v",
					reached,
					err,
				)
			}
		})
	}
}

// TestCertificates has a server with each kind of certificate.
func TestCertificates(t *testing.T) {
	named := selfSigned(t, "127.0.0.1", false)
	other := selfSigned(t, "db.example.com", false)
	negative := selfSigned(t, "127.0.0.1", true)
	namedFile := pemFile(t, named)
	otherFile := pemFile(t, other)
	const off, on = tdstest.EncryptLogin, tdstest.EncryptAll
	for _, c := range []struct {
		clause     string
		encryption byte
		options    []string
		cert       tls.Certificate
		refused    string // what the error says; empty: let in
	}{
		{"OFF, self-signed, trusted unseen", off, nil, named, ""},
		{"OFF, negative serial number, as half of those before 2022 have", off, nil, negative, ""},
		{"ON, self-signed, not trusted", on, nil, named, "certificate signed by unknown authority"},
		{
			"ON, self-signed, trusted unseen", on,
			[]string{"trustservercertificate", "true"},
			named, "",
		},
		{"ON, self-signed, its file given", on, []string{"certificate", namedFile}, named, ""},
		{
			"ON, another's file given", on,
			[]string{"certificate", otherFile},
			named,
			"unknown authority",
		},
		{"ON, the very certificate given", on, []string{"servercertificate", otherFile}, other, ""},
		{
			"ON, another very certificate given", on,
			[]string{"servercertificate", otherFile},
			named, "match",
		},
		{"ON, a wrong name", on, []string{"certificate", otherFile}, other, "127.0.0.1"},
		{
			"ON, the other name expected", on,
			[]string{"certificate", otherFile, "hostnameincertificate", "db.example.com"},
			other, "",
		},
	} {
		if c.encryption == on {
			c.options = append(c.options, "encrypt", "true")
		}
		t.Run("2.2.6.5 ENCRYPT_"+c.clause, func(t *testing.T) {
			server := tdstest.Start(
				t,
				tdstest.Options{Encryption: c.encryption, Certificate: c.cert},
			)
			s := openURL(t, server.URL("DS2", c.options...))
			session, err := s.ConnectUser(t.Context(), procedure)
			if err == nil {
				session.Close(t.Context())
			}
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, store.Config, store.Classify(err))
			require.ErrorContains(t, err, c.refused)
			require.ErrorContains(t, err, "or trustservercertificate=true")
		})
	}
}

// TestTLSThatFails has a server with which no TLS comes about though the network is sound.
func TestTLSThatFails(t *testing.T) {
	old := tdstest.Options{
		Certificate: selfSigned(t, "127.0.0.1", false),
		TLSVersion:  tls.VersionTLS10,
	}
	_, err := openURL(t, tdstest.Start(t, old).URL("DS2")).ConnectUser(t.Context(), procedure)
	assert.Equal(t, store.Config, store.Classify(err))
	require.ErrorContains(
		t,
		err,
		"; client and server do not agree on TLS: give the server a certificate that it can "+
			"use and TLS 1.2",
	)
}

// TestCutConnections has the server cut the connection in each phase of a login: [MS-TDS] 3.2.5,
// the client's states.
func TestCutConnections(t *testing.T) {
	for _, c := range []struct {
		clause string
		cut    tdstest.Phase
	}{
		{"3.2.5.1 after the connection is made", tdstest.Accepted},
		{"3.2.5.1 amid PRELOGIN", tdstest.AfterPrelogin},
		{"3.2.5.2 in the TLS handshake", tdstest.InTLS},
		{"3.2.5.3 after LOGIN7", tdstest.AfterLogin},
		{"3.2.5.3 in the answer to LOGIN7", tdstest.InLoginAnswer},
	} {
		t.Run(c.clause, func(t *testing.T) {
			server := tdstest.Start(
				t,
				tdstest.Options{Certificate: selfSigned(t, "127.0.0.1", false)},
			)
			server.Cut(c.cut)
			s := openURL(t, server.URL("DS2"))
			_, err := s.ConnectUser(t.Context(), procedure)
			assert.Equal(t, store.Connection, store.Classify(err))
			require.ErrorContains(
				t,
				err,
				"; the server closed the connection: check that the port is SQL Server's",
			)
			err = s.Wrap("ping", s.DB().PingContext(t.Context()))
			assert.Equal(t, store.Connection, store.Classify(err), "of the pool: %v", err)
			server.Cut(tdstest.Never)
			connect(t, s)
		})
	}
}

// TestLoginThatHangs has the server read what comes and never answer: the context's end ends the
// login, and so does the URL's time-out.
func TestLoginThatHangs(t *testing.T) {
	t.Parallel()
	silent := make(chan struct{})
	server := tdstest.Start(t, tdstest.Options{Decide: func(tdstest.Login) tdstest.Decision {
		<-silent
		return tdstest.Decision{Close: true, Answer: tdstest.Done(0)}
	}})
	defer close(silent)
	ctx, cancel := context.WithTimeout(
		t.Context(),
		2*time.Second,
	) // in which a busy machine comes to the login
	defer cancel()
	_, err := openURL(t, server.URL("DS2")).ConnectUser(ctx, procedure)
	assert.Equal(t, store.Connection, store.Classify(err))
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "give a slow server more time by connection timeout=SECONDS")
	err = openURL(t, server.URL("DS2", "connection timeout", "1")).DB().PingContext(t.Context())
	require.Error(t, err, "a login that hangs has no end")
}

// TestRequestsThatFail has a session's first request end in ways that only a network can bring
// about.
func TestRequestsThatFail(t *testing.T) {
	shutDown := tdstest.Failed(tdstest.Error(6005, 1, 10, "SHUTDOWN is in progress."))
	for _, c := range []struct {
		clause string
		cut    tdstest.Phase
		answer []byte
	}{
		{"3.3.5.4 the connection is cut after the request", tdstest.AfterRequest, nil},
		{
			"3.3.5.4 the connection is cut in the answer", tdstest.InAnswer,
			tdstest.Answer(tdstest.Info(1, 1, "on"), tdstest.Done(0)),
		},
		{"2.2.7.10 ERROR 6005: the server is being shut down", tdstest.Never, shutDown},
	} {
		t.Run(c.clause, func(t *testing.T) {
			server := tdstest.Start(t, tdstest.Options{Request: func([]byte) []byte {
				return c.answer
			}})
			session := connect(t, openURL(t, server.URL("DS2")))
			server.Cut(c.cut)
			err := call(t.Context(), session)
			e, ok := err.(*store.Error)
			assert.True(t, ok && e.Class == store.Connection && e.InDoubt, "got %#v", err)
		})
	}
}

// TestFatalErrors has the server answer a call in the words of Microsoft's pages and end the
// connection: the error is that of the drive, and its work in doubt; that of the next call is only
// that there is no connection.
func TestFatalErrors(t *testing.T) {
	for _, c := range []struct {
		number   int32
		severity byte
		text     string
	}{
		{
			9001, 21,
			"The log for database 'DS2' is not available. Check the operating system error log",
		},
		{823, 24, "The operating system returned error 21(The device is not ready.) to SQL Server"},
		{3314, 21, "During undoing of a logged operation in database 'DS2', an error occurred"},
		{3624, 20, "A system assertion check has failed."},
		{605, 21, "Attempt to fetch logical page (1:224) in database 5 failed."},
		{
			7105, 22,
			"The Database ID 5, Page (1:100), slot 3 for LOB data type node does not exist.",
		},
	} {
		server := tdstest.Start(t, tdstest.Options{Request: func([]byte) []byte {
			return tdstest.Failed(tdstest.Error(c.number, 4, c.severity, c.text))
		}})
		conn := connect(t, openURL(t, server.URL("DS2")))
		e, ok := errors.AsType[*store.Error](call(t.Context(), conn))
		require.True(t, ok, c.text)
		assert.Equal(t, store.Resource, e.Class, c.text)
		assert.Contains(t, e.Error(), "error log and the drive")
		assert.True(t, e.InDoubt, c.text)
		server.Drop()
		e, ok = errors.AsType[*store.Error](call(t.Context(), conn))
		require.True(t, ok, c.text)
		assert.Equal(t, store.Connection, e.Class, c.text)
		assert.False(t, e.InDoubt, c.text)
	}
}

// TestLoginLimit: the URL's time-out is that of a login, and none of what comes after it, be it
// silent for longer.
func TestLoginLimit(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := tdstest.Start(t, tdstest.Options{Request: func([]byte) []byte {
		<-release
		return seven
	}})
	done := make(chan error)
	const limit = 5 * time.Second // a busy machine logs in meanwhile
	s := openURL(t, server.URL("DS2", "Connection Timeout", "5"))
	assert.Equal(t, limit, s.loginTimeout)
	assert.Zero(t, s.config.ConnTimeout, "what each silence after the login may take")
	session := connect(t, s)
	go func() { done <- call(t.Context(), session) }()
	go func() { _, err := s.DB().ExecContext(t.Context(), "BACKUP"); done <- err }()
	time.Sleep(limit + 100*time.Millisecond) // the silence itself is what is tested
	close(release)
	for range 2 {
		assert.NoError(t, <-done)
	}
	for _, wrong := range []string{"x", "-1"} {
		_, err := Open(server.URL("DS2", "connection timeout", wrong))
		require.Error(t, err, "%q is taken", wrong)
	}
}

// TestAttention has the end of the context end a request that the server does not answer: [MS-TDS]
// 2.2.1.7 and 2.2.7.6, DONE_ATTN. go-mssqldb waits for the confirmation, and the session is sound
// after it.
func TestAttention(t *testing.T) {
	answers := make(chan []byte, 1)
	asked := make(chan struct{}, 10)
	server := tdstest.Start(t, tdstest.Options{Request: func([]byte) []byte {
		select {
		case answer := <-answers:
			return answer
		default:
			asked <- struct{}{}
			return nil
		}
	}})
	session := connect(t, openURL(t, server.URL("DS2")))
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	err := call(ctx, session)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, store.Connection, store.Classify(err), err)
	answers <- tdstest.Failed(tdstest.Error(1205, 51, 13, "Transaction was deadlocked."))
	err = call(t.Context(), session)
	require.Equal(t, store.Deadlock, store.Classify(err), "after the attention: %v", err)
}

// TestSeveralAddresses dials the addresses of a name concurrently, as go-mssqldb does by default,
// while the login is cut off: for the race detector.
func TestSeveralAddresses(t *testing.T) {
	server := tdstest.Start(t, tdstest.Options{})
	var n network
	var dialling sync.WaitGroup
	for range 4 {
		dialling.Go(func() {
			_, err := n.DialContext(t.Context(), "tcp", server.URL("DS2").Host)
			assert.NoError(t, err)
		})
		dialling.Go(n.cutConns)
	}
	dialling.Wait()
	n.cutConns()
	for _, conn := range n.conns {
		_, err := conn.Read(make([]byte, 1))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded, "a connection that was cut")
		conn.Close()
	}
}

func openURL(t testing.TB, target *url.URL) *Store { return open(t, target.String()) }

// procedure is a call that no test's server knows.
var procedure = schema.Statement{Name: "purchase", SQL: "dbo.PURCHASE"}

func connect(t testing.TB, s *Store) *Conn {
	t.Helper()
	conn, err := s.ConnectUser(t.Context(), procedure)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

// call calls the procedure and reads one column.
func call(ctx context.Context, conn *Conn) error {
	conn.Call(0)
	conn.Int32(1)
	return conn.Each(ctx, true, 1, func([]Value) error { return nil })
}
