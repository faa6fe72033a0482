package storetest

import (
	"net"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// Proxy is the target behind a proxy: pass passes on what the two ends of a connection say, which
// it ends.
func Proxy(t *testing.T, target string, pass func(client, server net.Conn)) string {
	t.Helper()
	u, err := url.Parse(target)
	require.NoError(t, err)
	address := u.Host
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				if server, err := net.Dial("tcp", address); err == nil {
					defer server.Close()
					pass(client, server)
				}
			}()
		}
	}()
	u.Host = listener.Addr().String()
	return u.String()
}
