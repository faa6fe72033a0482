// Package tdstest is the server's side of SQL Server's protocol as far as logins go, for tests: it
// answers PRELOGIN, TLS and LOGIN7 as a test says, with the token streams that [MS-TDS] describes
// and Microsoft's server sends. It runs no SQL: a session gets the answers that a test recorded or
// none.
//
// [MS-TDS] is Microsoft's "Tabular Data Stream Protocol" specification.
package tdstest

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// The server's answers to the question for encryption: [MS-TDS] 2.2.6.5.
const (
	EncryptLogin   = 0x00 // ENCRYPT_OFF: the login packet alone
	EncryptAll     = 0x01 // ENCRYPT_ON
	encryptNothing = 0x02 // ENCRYPT_NOT_SUP
)

// Phase is a point of a connection's life at which a server may cut it.
type Phase int

// The phases, by the states of the server: [MS-TDS] 3.3.
const (
	Never         Phase = iota
	Accepted            // the first byte is read, and the connection is reset
	AfterPrelogin       // the client's PRELOGIN is read, and not answered
	InTLS               // the client's first TLS record is read
	AfterLogin          // LOGIN7 is read, and not answered
	InLoginAnswer       // half of the answer to it is sent
	AfterRequest        // the first request of a session is read, and not answered
	InAnswer            // half of the answer to it is sent
)

// Decision is what becomes of a login.
type Decision struct {
	Answer []byte // tokens; empty: the login is let in
	Close  bool   // as a server does after a login that failed
}

// Refuse ends a login with what is an error.
func Refuse(tokens ...[]byte) Decision { return Decision{Answer: Failed(tokens...), Close: true} }

// Options say how the server behaves. What is zero is left out.
type Options struct {
	Certificate tls.Certificate // without one nothing is encrypted
	Encryption  byte            // EncryptLogin by default
	TLSVersion  uint16          // the highest; TLS 1.2 by default, as there is below TDS 8.0

	// Decide answers a login. By default all are let in.
	Decide func(Login) Decision
	// Request answers a batch or a remote procedure call; nil is no answer until the client sends
	// an attention.
	Request func(payload []byte) []byte
}

// Server is a listening server.
type Server struct {
	options  Options
	listener net.Listener

	cut atomic.Int64 // a Phase
	wg  sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn // of clients, also those that have ended
}

// Start starts a server that ends with the test.
func Start(t testing.TB, options Options) *Server {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	if options.Certificate.Certificate == nil {
		options.Encryption = encryptNothing
	}
	s := &Server{options: options, listener: listener}
	s.wg.Go(s.acceptConns)
	t.Cleanup(func() {
		listener.Close()
		s.Drop()
		s.wg.Wait()
	})
	return s
}

// URL is a target on the server, with further options of go-mssqldb such as encrypt, true.
func (s *Server) URL(database string, options ...string) *url.URL {
	query := url.Values{"database": {database}}
	for i := 0; i+1 < len(options); i += 2 {
		query.Set(options[i], options[i+1])
	}
	return &url.URL{
		Scheme:   "sqlserver",
		User:     url.UserPassword("user", "secret"),
		Host:     s.listener.Addr().String(),
		RawQuery: query.Encode(),
	}
}

// Cut has every connection end at a phase from now on; Never lets them be.
func (s *Server) Cut(at Phase) { s.cut.Store(int64(at)) }

// Drop ends all connections, as a server does that is killed.
func (s *Server) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		conn.Close()
	}
}

// acceptConns serves each connection on a goroutine, until the listener is closed.
func (s *Server) acceptConns() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns = append(s.conns, conn)
		s.mu.Unlock()
		s.wg.Go(func() {
			defer conn.Close()
			_ = s.serveConn(conn) // the client sees it
		})
	}
}

var errCut = errors.New("the connection is cut, as the test says")

// isCut is an error where connections are to end at a phase.
func (s *Server) isCut(at Phase) error {
	if Phase(s.cut.Load()) == at {
		return errCut
	}
	return nil
}

// serveConn plays one connection: [MS-TDS] 3.3.
func (s *Server) serveConn(conn net.Conn) error {
	if err := s.isCut(Accepted); err != nil {
		_, _ = conn.Read(make([]byte, 1)) // by then the client is connected
		return errors.Join(err, conn.(*net.TCPConn).SetLinger(0))
	}
	_, _, err := readMessage(conn)
	if err = cmp.Or(err, s.isCut(AfterPrelogin)); err != nil {
		return err
	}
	answer := cutPackets(typeAnswer, answerPrelogin(s.options.Encryption))
	if _, err := conn.Write(answer); err != nil {
		return err
	}
	client, request, err := s.readLogin(conn)
	if err != nil {
		return err
	}
	login, err := parseLogin(request)
	if err = cmp.Or(err, s.isCut(AfterLogin)); err != nil {
		return err
	}
	var decision Decision
	if s.options.Decide != nil {
		decision = s.options.Decide(login)
	}
	if len(decision.Answer) == 0 {
		decision.Answer = Answer(Database(login.Database, "master"), LoginAck(), Done(DoneFinal))
	}
	if err := s.sendAnswer(client, decision.Answer, InLoginAnswer); err != nil || decision.Close {
		return err
	}
	return s.serveSession(client)
}

// readLogin reads LOGIN7, through TLS where that was agreed, and gives the connection that the
// session goes on on.
func (s *Server) readLogin(conn net.Conn) (client net.Conn, payload []byte, err error) {
	client = conn
	var from io.Reader = conn
	if s.options.Encryption != encryptNothing {
		if err := s.isCut(InTLS); err != nil {
			readMessage(conn) // the client's hello
			return nil, nil, err
		}
		handshake := &handshakeConn{Conn: conn}
		secure := tls.Server(handshake, &tls.Config{
			Certificates: []tls.Certificate{s.options.Certificate},
			MinVersion:   tls.VersionTLS10,
			MaxVersion:   cmp.Or(s.options.TLSVersion, tls.VersionTLS12),
		})
		if err := secure.Handshake(); err != nil {
			return nil, nil, err
		}
		handshake.done = true
		from = secure
		if s.options.Encryption == EncryptAll {
			client = secure
		}
	}
	kind, payload, err := readMessage(from)
	if err == nil && kind != typeLogin {
		err = fmt.Errorf("packet of type %#x, not LOGIN7", kind)
	}
	return client, payload, err
}

// sendAnswer sends an answer, or half of it and no more.
func (s *Server) sendAnswer(client net.Conn, tokens []byte, cutAt Phase) error {
	answer := cutPackets(typeAnswer, tokens)
	cut := s.isCut(cutAt)
	if cut != nil {
		answer = answer[:len(answer)/2]
	}
	_, err := client.Write(answer)
	return cmp.Or(err, cut)
}

// serveSession answers requests with what the test recorded, and attentions: [MS-TDS] 2.2.1.7,
// 3.3.5.7.
func (s *Server) serveSession(client net.Conn) error {
	for {
		kind, payload, err := readMessage(client)
		if err != nil {
			return err
		}
		if kind == typeAttention {
			if _, err := client.Write(cutPackets(typeAnswer, Done(DoneAttention))); err != nil {
				return err
			}
			continue
		}
		if err := s.isCut(AfterRequest); err != nil {
			return err
		}
		recordStatement(kind, payload)
		if s.options.Request == nil {
			continue
		}
		if tokens := s.options.Request(payload); tokens != nil {
			if err := s.sendAnswer(client, tokens, InAnswer); err != nil {
				return err
			}
		}
	}
}
