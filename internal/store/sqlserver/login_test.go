//go:debug x509negativeserial=1

package sqlserver

import (
	"context"
	"crypto/tls"
	"errors"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver/target"
	"ds2/internal/store/sqlserver/tdstest"
)

// The token streams with which SQL Server ends a login, in the words of sys.messages.
var (
	loginFailed = tdstest.Error(18456, 1, 14, "Login failed for user 'user'.")

	// The login goes on in the default database, because go-mssqldb does not set fDatabase: [MS-TDS] 2.2.6.4.
	fallsBack = tdstest.Decision{Answer: tdstest.Answer(
		tdstest.Error(4063, 1, 11, `Cannot open database "DS2" that was requested by the login. Using the user default database "master" instead.`),
		tdstest.Database("master", "master"), tdstest.LoginAck(), tdstest.Done(tdstest.DoneFinal))}
	// As DONE has it where the server marks the message as an error: [MS-TDS] 2.2.7.6.
	fallsBackMarked = tdstest.Decision{Answer: tdstest.Answer(
		tdstest.Error(4063, 1, 11, `Cannot open database "DS2" that was requested by the login.`),
		tdstest.Database("master", "master"), tdstest.LoginAck(), tdstest.Done(tdstest.DoneError))}
	noDatabase = tdstest.Decision{Close: true, Answer: tdstest.Answer(
		tdstest.Error(4060, 1, 11, `Cannot open database "DS2" requested by the login. The login failed.`),
		loginFailed, tdstest.Done(tdstest.DoneError))}
	noDefault = tdstest.Decision{Close: true, Answer: tdstest.Answer(
		tdstest.Error(4061, 1, 11, "Cannot open either database \"DS2\" or the user default database."),
		loginFailed, tdstest.Done(tdstest.DoneError))}
	wrongPassword = tdstest.Decision{Close: true, Answer: tdstest.Answer(loginFailed, tdstest.Done(tdstest.DoneError))}
)

// refusal is a login that the server ends with one message.
func refusal(number int32, class byte, text string) tdstest.Decision {
	return tdstest.Decision{Close: true, Answer: tdstest.Answer(tdstest.Error(number, 1, class, text), tdstest.Done(tdstest.DoneError))}
}

// TestLoginAnswers has a server answer LOGIN7 in each way that ends a login, before and after the database was reached.
func TestLoginAnswers(t *testing.T) {
	for _, c := range []struct {
		clause        string
		answer        tdstest.Decision
		denies        bool // the database, so ds2 load asks master
		code          string
		before, after store.Class
	}{
		{"2.2.7.10 ERROR 4063, then LOGINACK: the database is not there", fallsBack, true, "4063", store.Config, store.Connection},
		{"2.2.7.6 the same, and DONE_ERROR", fallsBackMarked, true, "4063", store.Config, store.Connection},
		{"2.2.7.10 ERROR 4060, then 18456", noDatabase, true, "4060", store.Config, store.Connection},
		{"2.2.7.10 ERROR 4061, then 18456", noDefault, true, "4061", store.Config, store.Connection},
		{"2.2.7.10 ERROR 18456 alone: wrong password, or any of its states", wrongPassword, false, "18456", store.Config, store.Connection},
		{"2.2.7.10 ERROR 17187: starting", refusal(17187, 16, "SQL Server is not ready to accept new client connections."), false, "17187", store.Connection, store.Connection},
		{"2.2.7.10 ERROR 17188: stopping", refusal(17188, 16, "SQL Server cannot accept new connections, because it is being shut down."), false, "17188", store.Connection, store.Connection},
		{"2.2.7.10 ERROR 17189: no thread", refusal(17189, 16, "SQL Server failed with error code 0xc0000000 to spawn a thread."), false, "17189", store.Connection, store.Connection},
		{"2.2.7.10 ERROR 17148: shut down", refusal(17148, 16, "SQL Server is terminating because of a system shutdown."), false, "17148", store.Connection, store.Connection},
		{"2.2.7.10 ERROR 978: not the primary replica", refusal(978, 14, "The target database ('DS2') is in an availability group."), false, "978", store.Config, store.Connection},
		{"2.2.7.10 ERROR 40613: Azure is waking the database", refusal(40613, 17, "Database 'DS2' is not currently available."), false, "40613", store.Connection, store.Connection},
		{"2.2.7.10 ERROR 49918: Azure has no room", refusal(49918, 16, "Cannot process request. Not enough resources."), false, "49918", store.Resource, store.Resource},
		{"2.2.7.10 ERROR 33557097: Babelfish's for all that it has no number for, such as that it is starting", refusal(33557097, 16, "the database system is not yet accepting connections"), false, "33557097", store.Bug, store.Connection},
		{"2.2.7.10 ERROR of class 20 closes the connection", refusal(20001, 20, "Fatal."), false, "20001", store.Connection, store.Connection},
	} {
		t.Run(c.clause, func(t *testing.T) {
			let := true
			server := tdstest.Start(t, tdstest.Options{Decide: func(l tdstest.Login) tdstest.Decision {
				if l.MustHave || l.Database != "DS2" || l.User != "user" {
					t.Errorf("login %+v", l)
				}
				if let {
					return tdstest.Decision{}
				}
				return c.answer
			}})
			for class, reached := range map[store.Class]bool{c.before: false, c.after: true} {
				s := openURL(t, server.URL("DS2"))
				if let = reached; reached {
					connect(t, s)
				}
				let = false
				_, err := s.ConnectUser(t.Context(), procedure)
				e, ok := err.(*store.Error)
				if !ok || e.Code != c.code || c.before != c.after && e.Class != class || c.before == c.after && e.Class != c.before {
					t.Errorf("reached before: %v: got %#v, want code %s", reached, err, c.code)
				}
				if ok && c.code == "33557097" && !strings.Contains(e.Hint, "every error that SQL Server has none for") {
					t.Errorf("reached before: %v: a hint that guesses: %v", reached, err)
				}
				if denies := target.DeniesDatabase(err); denies != c.denies {
					t.Errorf("reached before: %v: deniesDatabase says %v of %v", reached, denies, err)
				}
				if err := s.DB().PingContext(t.Context()); target.DeniesDatabase(err) != c.denies {
					t.Errorf("of the pool's %v deniesDatabase says %v", err, !c.denies)
				}
			}
		})
	}
}

// TestRefusedIsToldOnce: what sets settings back before each command leaves it to the command to say that the database
// is refused.
func TestRefusedIsToldOnce(t *testing.T) {
	server := tdstest.Start(t, tdstest.Options{Decide: func(tdstest.Login) tdstest.Decision {
		return refusal(33557097, 16, `Cannot open database "DS2" requested by the login. The login failed`)
	}})
	if _, err := store.RestoreSettings(t.Context(), openURL(t, server.URL("DS2")), ""); err != nil {
		t.Errorf("told: %v", err)
	}
}

// TestCertificates has a server with each kind of certificate.
func TestCertificates(t *testing.T) {
	named := selfSigned(t, "127.0.0.1", false)
	other := selfSigned(t, "db.example.com", false)
	for _, c := range []struct {
		clause     string
		encryption byte
		options    []string
		cert       tls.Certificate
		refused    string // what the error says; empty: let in
	}{
		{"2.2.6.5 ENCRYPT_OFF, self-signed, trusted unseen", tdstest.EncryptLogin, nil, named, ""},
		{"2.2.6.5 ENCRYPT_OFF, negative serial number, as half of those before 2022 have", tdstest.EncryptLogin, nil, selfSigned(t, "127.0.0.1", true), ""},
		{"2.2.6.5 ENCRYPT_ON, self-signed, not trusted", tdstest.EncryptAll, []string{"encrypt", "true"}, named, "certificate signed by unknown authority"},
		{"2.2.6.5 ENCRYPT_ON, self-signed, trusted unseen", tdstest.EncryptAll, []string{"encrypt", "true", "trustservercertificate", "true"}, named, ""},
		{"2.2.6.5 ENCRYPT_ON, self-signed, its file given", tdstest.EncryptAll, []string{"encrypt", "true", "certificate", pemFile(t, named)}, named, ""},
		{"2.2.6.5 ENCRYPT_ON, another's file given", tdstest.EncryptAll, []string{"encrypt", "true", "certificate", pemFile(t, other)}, named, "unknown authority"},
		{"2.2.6.5 ENCRYPT_ON, the very certificate given", tdstest.EncryptAll, []string{"encrypt", "true", "servercertificate", pemFile(t, other)}, other, ""},
		{"2.2.6.5 ENCRYPT_ON, another very certificate given", tdstest.EncryptAll, []string{"encrypt", "true", "servercertificate", pemFile(t, other)}, named, "match"},
		{"2.2.6.5 ENCRYPT_ON, a wrong name", tdstest.EncryptAll, []string{"encrypt", "true", "certificate", pemFile(t, other)}, other, "127.0.0.1"},
		{"2.2.6.5 ENCRYPT_ON, the other name expected", tdstest.EncryptAll, []string{"encrypt", "true", "certificate", pemFile(t, other), "hostnameincertificate", "db.example.com"}, other, ""},
	} {
		t.Run(c.clause, func(t *testing.T) {
			server := tdstest.Start(t, tdstest.Options{Encryption: c.encryption, Certificate: c.cert})
			s := openURL(t, server.URL("DS2", c.options...))
			session, err := s.ConnectUser(t.Context(), procedure)
			if err == nil {
				session.Close(t.Context())
			}
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			e, ok := err.(*store.Error)
			if !ok || e.Class != store.Config || !strings.Contains(e.Error(), c.refused) || !strings.Contains(e.Hint, "trustservercertificate=true") {
				t.Errorf("got %v (%s), want class config, %q and a hint", err, store.Classify(err), c.refused)
			}
		})
	}
}

// TestTLSThatFails has a server with which no TLS comes about though the network is sound.
func TestTLSThatFails(t *testing.T) {
	server := tdstest.Start(t, tdstest.Options{Certificate: selfSigned(t, "127.0.0.1", false), TLSVersion: tls.VersionTLS10})
	_, err := openURL(t, server.URL("DS2")).ConnectUser(t.Context(), procedure)
	if e, ok := err.(*store.Error); !ok || e.Class != store.Config || !strings.Contains(e.Hint, "TLS 1.2") {
		t.Errorf("a server of TLS 1.0: got %v (%s), want class config and a hint", err, store.Classify(err))
	}
}

// TestCutConnections has the server cut the connection in each phase of a login: [MS-TDS] 3.2.5, the client's states.
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
			server := tdstest.Start(t, tdstest.Options{Certificate: selfSigned(t, "127.0.0.1", false)})
			server.Cut(c.cut)
			s := openURL(t, server.URL("DS2"))
			_, err := s.ConnectUser(t.Context(), procedure)
			e, ok := errors.AsType[*store.Error](err)
			if !ok || e.Class != store.Connection || !strings.HasPrefix(e.Hint, "the server closed the connection: look at whether the port is SQL Server's") {
				t.Errorf("got %v of class %s", err, store.Classify(err))
			}
			if err := s.Wrap("ping", s.DB().PingContext(t.Context())); store.Classify(err) != store.Connection {
				t.Errorf("of the pool: got %v of class %s", err, store.Classify(err))
			}
			server.Cut(tdstest.Never)
			connect(t, s)
		})
	}
}

// TestLoginThatHangs has the server read what comes and never answer: the context's end ends the login.
func TestLoginThatHangs(t *testing.T) {
	silent := make(chan struct{})
	server := tdstest.Start(t, tdstest.Options{Decide: func(tdstest.Login) tdstest.Decision {
		<-silent
		return tdstest.Decision{Close: true, Answer: tdstest.Done(0)}
	}})
	defer close(silent)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // in which a busy machine comes to the login
	defer cancel()
	_, err := openURL(t, server.URL("DS2")).ConnectUser(ctx, procedure)
	e, ok := errors.AsType[*store.Error](err)
	if !ok || e.Class != store.Connection || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(e.Hint, "connection timeout=SECONDS") {
		t.Errorf("got %v of class %s", err, store.Classify(err))
	}
}

// TestRequestsThatFail has a session's first request end in ways that only a network can bring about.
func TestRequestsThatFail(t *testing.T) {
	for _, c := range []struct {
		clause  string
		cut     tdstest.Phase
		answer  []byte
		inDoubt bool
	}{
		{"3.3.5.4 the connection is cut after the request", tdstest.AfterRequest, nil, true},
		{"3.3.5.4 the connection is cut in the answer", tdstest.InAnswer, tdstest.Answer(tdstest.Info(1, 1, "on"), tdstest.Done(0)), true},
		{"2.2.7.10 ERROR 6005: the server is being shut down", tdstest.Never, tdstest.Failed(tdstest.Error(6005, 1, 10, "SHUTDOWN is in progress.")), true},
	} {
		for path, open := range paths {
			t.Run(c.clause+", "+path, func(t *testing.T) {
				server := tdstest.Start(t, tdstest.Options{Request: func([]byte) []byte { return c.answer }})
				session := connect(t, open(t, server.URL("DS2")))
				server.Cut(c.cut)
				err := call(t.Context(), session)
				e, ok := err.(*store.Error)
				if !ok || e.Class != store.Connection || e.InDoubt != c.inDoubt {
					t.Errorf("got %#v", err)
				}
			})
		}
	}
}

// TestLoginLimit: the URL's time-out ends a login that hangs, and is none of what comes after the login, be it silent
// for longer.
func TestLoginLimit(t *testing.T) {
	answer := idAnswer(nil, []byte{0xD1, 4, 7, 0, 0, 0}, tdstest.Done(tdstest.DoneFinal))
	release := make(chan struct{})
	server := tdstest.Start(t, tdstest.Options{Request: func([]byte) []byte { <-release; return answer }})
	done := make(chan error)
	const limit = 5 * time.Second // a busy machine logs in meanwhile
	for path, open := range paths {
		s := open(t, server.URL("DS2", "Connection Timeout", "5"))
		if s.loginTimeout != limit || s.config.ConnTimeout != 0 {
			t.Errorf("%s: the login may take %v, each silence after it %v", path, s.loginTimeout, s.config.ConnTimeout)
		}
		go func() { done <- call(t.Context(), connect(t, s)) }()
		go func() { _, err := s.DB().ExecContext(t.Context(), "BACKUP"); done <- err }()
	}
	time.Sleep(limit + 100*time.Millisecond) // the silence itself is what is tested
	close(release)
	for range 2 * len(paths) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	silent := make(chan struct{})
	defer close(silent)
	hangs := tdstest.Start(t, tdstest.Options{Decide: func(tdstest.Login) tdstest.Decision { <-silent; return tdstest.Decision{Close: true} }})
	if err := openURL(t, hangs.URL("DS2", "connection timeout", "1")).DB().PingContext(t.Context()); err == nil {
		t.Error("a login that hangs has no end")
	}
	for _, wrong := range []string{"x", "-1"} {
		if _, err := Open(server.URL("DS2", "connection timeout", wrong)); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// TestAttention has the end of the context end a request that the server does not answer: [MS-TDS] 2.2.1.7 and 2.2.7.6,
// DONE_ATTN. go-mssqldb waits for the confirmation, and the session is sound after it; the own calls send the attention
// when the session is closed.
func TestAttention(t *testing.T) {
	for clause, path := range map[string]string{
		"2.2.7.6 DONE_ATTN is waited for":                  "driver",
		"2.2.1.7 the attention comes before the end of it": "wire",
	} {
		t.Run(clause, func(t *testing.T) {
			answers, asked := make(chan []byte, 1), make(chan struct{}, 10)
			server := tdstest.Start(t, tdstest.Options{Request: func([]byte) []byte {
				select {
				case answer := <-answers:
					return answer
				default:
					asked <- struct{}{}
					return nil
				}
			}})
			session := connect(t, paths[path](t, server.URL("DS2")))
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				<-asked
				cancel()
			}()
			if err := call(ctx, session); store.Classify(err) != store.Connection || !errors.Is(err, context.Canceled) {
				t.Errorf("got %v of class %s", err, store.Classify(err))
			}
			if path == "wire" {
				session.Close(t.Context())
				for server.Attentions() == 0 && t.Context().Err() == nil {
					time.Sleep(time.Millisecond)
				}
				return
			}
			answers <- tdstest.Failed(tdstest.Error(1205, 51, 13, "Transaction was deadlocked."))
			if err := call(t.Context(), session); store.Classify(err) != store.Deadlock {
				t.Errorf("after the attention: got %v of class %s", err, store.Classify(err))
			}
		})
	}
}

// TestSeveralAddresses dials the addresses of a name concurrently, as go-mssqldb does by default, while the login is
// cut off: for the race detector.
func TestSeveralAddresses(t *testing.T) {
	server := tdstest.Start(t, tdstest.Options{})
	var n network
	var dialling sync.WaitGroup
	for range 4 {
		dialling.Go(func() {
			if _, err := n.DialContext(t.Context(), "tcp", server.URL("DS2").Host); err != nil {
				t.Error(err)
			}
		})
		dialling.Go(n.cut)
	}
	dialling.Wait()
	n.cut()
	for _, conn := range n.conns {
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a connection that was cut: %v", err)
		}
		conn.Close()
	}
}

func openURL(t testing.TB, target *url.URL) *Store {
	t.Helper()
	s, err := Open(target)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s.(*Store)
}

// openWire has this package's own calls.
func openWire(t testing.TB, target *url.URL) *Store {
	t.Helper()
	s := openURL(t, target)
	s.UseWire()
	return s
}

// paths are the two by which users call.
var paths = map[string]func(testing.TB, *url.URL) *Store{"driver": openURL, "wire": openWire}

// procedure is a call that no test's server knows.
var procedure = Statement{Name: "purchase", SQL: "dbo.PURCHASE"}

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
