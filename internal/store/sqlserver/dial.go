package sqlserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// loginTimeout is how long a server may take from the first packet to the end of the login, where
// the target does not say. go-mssqldb itself limits only the making of the TCP connection, and a
// server that hangs would never be given up.
const loginTimeout = 30 * time.Second

// connector makes the connections of a pool: driver.Connector.
type connector struct {
	store  *Store
	config msdsn.Config
}

// Connect opens a connection for the pool.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, _, err := c.store.dialServer(ctx, c.config)
	if err != nil {
		return nil, err // not a nil *mssql.Conn
	}
	return conn, nil
}

func (c connector) Driver() driver.Driver { return &mssql.Driver{} }

// dialServer opens a connection; an error is a *connectError. All connections of a Store are made
// here.
func (s *Store) dialServer(
	ctx context.Context,
	config msdsn.Config,
) (*mssql.Conn, *network, error) {
	n := &network{Dialer: net.Dialer{KeepAlive: config.KeepAlive}}
	if config.TLSConfig != nil {
		config.TLSConfig = verifyTLS(config.TLSConfig)
	}
	connector, err := s.newConnector(ctx, config)
	if err != nil {
		return nil, nil, &connectError{err: err}
	}
	connector.Dialer = n
	login, cancel := context.WithTimeout(ctx, s.loginTimeout)
	defer cancel()
	// go-mssqldb does not look at the context while it waits for the server.
	stop := context.AfterFunc(login, n.cutConns)
	opened, err := connector.Connect(login)
	if !stop() && err == nil {
		opened.Close()
		err = login.Err()
	}
	if err != nil {
		if ended := ctx.Err(); ended != nil {
			err = fmt.Errorf("%w: %w", ended, err)
		}
		// A server that was reached before agrees on TLS, whatever it says as it goes down.
		return nil, nil, &connectError{err: err, broken: n.broken.Load() || s.opened.Load()}
	}
	if config.Database == s.config.Database {
		s.opened.Store(true)
	}
	return opened.(*mssql.Conn), n, nil
}

// newConnector gives go-mssqldb's connector for one connection, with the password or the token of
// the moment.
func (s *Store) newConnector(ctx context.Context, config msdsn.Config) (*mssql.Connector, error) {
	if s.entra != nil {
		u := *s.entra
		query := s.entra.Query()
		query.Set(msdsn.Database, config.Database)
		u.RawQuery = query.Encode()
		return newFedAuthConnector(u.String())
	}
	if s.password != nil {
		secret, err := s.password(ctx)
		if err != nil {
			return nil, err
		}
		if config.User == "" {
			return mssql.NewSecurityTokenConnector(config, func(context.Context) (string, error) {
				return secret, nil
			})
		}
		config.Password = secret
	}
	return mssql.NewConnectorConfig(config), nil
}

// connectError is why a connection could not be made. What go-mssqldb returns has lost its type on
// the way unless it is the server's own message, so what the network saw stands beside it.
type connectError struct {
	err    error
	broken bool // the network was not sound
}

func (e *connectError) Error() string { return e.err.Error() }
func (e *connectError) Unwrap() error { return e.err }

// network dials for one connection and notes what happens to it. The server's name may have several
// addresses, which go-mssqldb dials concurrently.
type network struct {
	net.Dialer
	mu    sync.Mutex
	conns []net.Conn

	// the connection broke, which go-mssqldb's own goroutine may notice after its end
	broken atomic.Bool
}

// DialContext makes one of the connections.
func (n *network) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := n.Dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	n.conns = append(n.conns, conn)
	n.mu.Unlock()
	return &loginConn{Conn: conn, network: n}, nil
}

// eachConn calls do with each connection that was made, of which go-mssqldb keeps the first.
func (n *network) eachConn(do func(net.Conn)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, conn := range n.conns {
		do(conn)
	}
}

// cutConns ends what goes on on the connection.
func (n *network) cutConns() {
	n.eachConn(func(conn net.Conn) { conn.SetDeadline(time.Unix(1, 0)) })
}

// verifyTLS has what the target's options verify of the server's certificate fail as what
// crypto/tls verifies.
func verifyTLS(config *tls.Config) *tls.Config {
	config = config.Clone()
	refusal := func(err error) error {
		if err == nil {
			return nil
		}
		return &tls.CertificateVerificationError{Err: err}
	}
	if verify := config.VerifyPeerCertificate; verify != nil {
		config.VerifyPeerCertificate = func(raw [][]byte, chains [][]*x509.Certificate) error {
			return refusal(verify(raw, chains))
		}
	}
	if verify := config.VerifyConnection; verify != nil {
		config.VerifyConnection = func(state tls.ConnectionState) error {
			return refusal(verify(state))
		}
	}
	return config
}

// loginConn reports to its network what a login comes to.
type loginConn struct {
	net.Conn
	network *network
}

func (c *loginConn) Read(b []byte) (int, error)  { return c.noteFailure(c.Conn.Read(b)) }
func (c *loginConn) Write(b []byte) (int, error) { return c.noteFailure(c.Conn.Write(b)) }

// noteFailure notes that a read or a write failed, and passes on what it gave.
func (c *loginConn) noteFailure(n int, err error) (int, error) {
	if err != nil {
		c.network.broken.Store(true)
	}
	return n, err
}
