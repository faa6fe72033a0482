package sqlserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/msdsn"
)

// loginTimeout is how long a server may take from the first packet to the end of the login, where the target does not
// say. go-mssqldb itself limits only the making of the TCP connection, and a server that hangs would never be given up.
const loginTimeout = 30 * time.Second

// connector makes the connections of a pool: driver.Connector.
type connector struct {
	store  *Store
	config msdsn.Config
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, _, err := c.store.dial(ctx, c.config)
	if err != nil {
		return nil, err // not a nil *mssql.Conn
	}
	return conn, nil
}

func (c connector) Driver() driver.Driver { return &mssql.Driver{} }

// dial opens a connection; an error is a *connectError. All connections of a Store are made here.
func (s *Store) dial(ctx context.Context, config msdsn.Config) (*mssql.Conn, *network, error) {
	n := &network{Dialer: net.Dialer{KeepAlive: config.KeepAlive}}
	if config.TLSConfig != nil {
		config.TLSConfig = n.verifyTLS(config.TLSConfig)
	}
	connector, err := s.newConnector(ctx, config)
	if err != nil {
		return nil, nil, &connectError{err: err}
	}
	connector.Dialer = n
	login, cancel := context.WithTimeout(ctx, s.loginTimeout)
	defer cancel()
	stop := context.AfterFunc(login, n.cut) // go-mssqldb does not look at the context while it waits for the server
	opened, err := connector.Connect(login)
	if !stop() && err == nil {
		opened.Close()
		err = login.Err()
	}
	if err != nil {
		if ended := ctx.Err(); ended != nil {
			err = fmt.Errorf("%w: %w", ended, err)
		}
		disagree := n.shook && !n.verified && !n.broken.Load()
		return nil, nil, &connectError{err: err, certificate: n.certificate, tls: disagree}
	}
	if config.Database == s.config.Database {
		s.opened.Store(true)
	}
	return opened.(*mssql.Conn), n, nil
}

// newConnector gives go-mssqldb's connector for one connection, with the password or the token of the moment.
func (s *Store) newConnector(ctx context.Context, config msdsn.Config) (*mssql.Connector, error) {
	if s.entra != nil {
		u, query := *s.entra, s.entra.Query()
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
			return mssql.NewSecurityTokenConnector(config, func(context.Context) (string, error) { return secret, nil })
		}
		config.Password = secret
	}
	return mssql.NewConnectorConfig(config), nil
}

// connectError is why a connection could not be made. What go-mssqldb returns has lost its type on the way unless it is
// the server's own message, so what the network saw stands beside it.
type connectError struct {
	err         error
	certificate error // why the server's certificate was refused
	tls         bool  // client and server did not agree on TLS, though the network was sound
}

func (e *connectError) Error() string { return e.err.Error() }
func (e *connectError) Unwrap() error { return e.err }

// network dials for one connection and notes what happens to it. The server's name may have several addresses, which
// go-mssqldb dials concurrently.
type network struct {
	net.Dialer
	mu    sync.Mutex
	conns []net.Conn

	certificate     error       // why the server's certificate was refused
	shook, verified bool        // a TLS handshake began; the certificate was accepted
	broken          atomic.Bool // the connection broke, which go-mssqldb's own goroutine may notice after its end
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

func (n *network) each(do func(net.Conn)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, conn := range n.conns {
		do(conn)
	}
}

// cut ends what goes on on the connection.
func (n *network) cut() { n.each(func(conn net.Conn) { conn.SetDeadline(time.Unix(1, 0)) }) }

// verifyTLS verifies the server's certificate as config says, and keeps why it was refused.
func (n *network) verifyTLS(config *tls.Config) *tls.Config {
	config = config.Clone()
	verifyPeer, verify := config.VerifyPeerCertificate, config.VerifyConnection
	config.VerifyPeerCertificate = nil
	trusts := config.InsecureSkipVerify
	config.InsecureSkipVerify = true // crypto/tls verifies before it calls back, and go-mssqldb loses the error
	config.VerifyConnection = func(state tls.ConnectionState) (err error) {
		defer func() { n.certificate, n.verified = err, err == nil }()
		if !trusts {
			err = verifyChain(config, state)
		}
		if err == nil && verifyPeer != nil {
			raw := make([][]byte, len(state.PeerCertificates))
			for i, c := range state.PeerCertificates {
				raw[i] = c.Raw
			}
			err = verifyPeer(raw, nil)
		}
		if err == nil && verify != nil {
			err = verify(state)
		}
		return err
	}
	return config
}

// verifyChain does what crypto/tls does by itself.
func verifyChain(config *tls.Config, state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return errors.New("the server has no certificate")
	}
	name := cmp.Or(state.ServerName, config.ServerName) // an IP address is not sent, nor kept
	options := x509.VerifyOptions{Roots: config.RootCAs, DNSName: name, Intermediates: x509.NewCertPool()}
	for _, c := range state.PeerCertificates[1:] {
		options.Intermediates.AddCert(c)
	}
	_, err := state.PeerCertificates[0].Verify(options)
	return err
}

// loginConn reports to its network what a login comes to.
type loginConn struct {
	net.Conn
	network *network
}

func (c *loginConn) Read(b []byte) (int, error) {
	read, err := c.Conn.Read(b)
	if err != nil {
		c.network.broken.Store(true)
	}
	return read, err
}

// Write sees the first record of a TLS handshake, alone or in a packet of type PRELOGIN ([MS-TDS] 3.2.5.2).
func (c *loginConn) Write(b []byte) (int, error) {
	const handshake, prelogin, header = 0x16, 0x12, 8
	if len(b) > header && (b[0] == handshake || b[0] == prelogin && b[header] == handshake) {
		c.network.shook = true
	}
	written, err := c.Conn.Write(b)
	if err != nil {
		c.network.broken.Store(true)
	}
	return written, err
}
