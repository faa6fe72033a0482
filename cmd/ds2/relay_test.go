package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// relay is an address to scrape a server at that has none yet: it answers 503 until To is told
// where the server is, and when that has ended.
type relay struct {
	Address string
	to      atomic.Pointer[url.URL]
}

// startRelay starts a relay for the test.
func startRelay(t testing.TB) *relay {
	t.Helper()
	r := new(relay)
	r.to.Store(new(url.URL)) // nowhere
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) { request.SetURL(r.to.Load()) },
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
			w.WriteHeader(http.StatusServiceUnavailable)
		},
	})
	t.Cleanup(server.Close)
	r.Address = server.Listener.Addr().String()
	return r
}

// To has the relay pass on to a server's host:port.
func (r *relay) To(address string) { r.to.Store(&url.URL{Scheme: "http", Host: address}) }
