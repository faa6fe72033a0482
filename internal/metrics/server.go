package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/push"
	dto "github.com/prometheus/client_model/go"
	"golang.org/x/net/netutil"

	"ds2/internal/outside"
)

// What clients may cost a run: connections and scrapes at a time, and the time of each of their
// steps. A scrape beyond that is told 503, a connection waits.
const (
	maxConnections = 16
	maxScrapes     = 4
	maxHeader      = 16 << 10
)

var clientTime = 10 * time.Second // Prometheus's own default for a scrape; tests have less

// Server serves /metrics, and beside it what else is given.
type Server struct {
	listener net.Listener
	http     http.Server
	mux      *http.ServeMux
	served   chan error
	registry atomic.Pointer[prometheus.Registry]
}

// Serve serves what Show says, and the CPU and memory of ds2 itself, under /metrics at an address
// such as 127.0.0.1:9464. Port 0 takes a free one. Beside it there is a page to look at, at /, and
// its stream, at /live: a request that does not end by itself, which has to set the deadlines of
// its connection anew.
func Serve(address string, page, stream http.HandlerFunc) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w", err)
	}
	mux := http.NewServeMux()
	s := &Server{listener: listener, mux: mux, served: make(chan error, 1)}
	s.Show()
	now := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		return s.registry.Load().Gather()
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(now, promhttp.HandlerOpts{
		MaxRequestsInFlight: maxScrapes, EnableOpenMetrics: true,
	}))
	mux.Handle("GET /{$}", page)
	mux.Handle("GET /live", stream)
	s.http = http.Server{
		Handler:        s.ofLoopback(mux),
		MaxHeaderBytes: maxHeader,
		ReadTimeout:    clientTime,
		WriteTimeout:   clientTime,
		IdleTimeout:    6 * clientTime, // Prometheus comes again each minute, at least
		// The client is told; a separate log would tear the view of the run.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	go func() { s.served <- s.http.Serve(netutil.LimitListener(listener, maxConnections)) }()
	return s, nil
}

// Handle serves something else besides, by a pattern of http.ServeMux. It may take as long as its
// client does.
func (s *Server) Handle(pattern string, handle http.HandlerFunc) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).SetWriteDeadline(time.Time{})
		handle(w, r)
	})
}

// Show serves the figures of these collectors in the place of others: those of the run under way.
func (s *Server) Show(all ...prometheus.Collector) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(all...)
	s.registry.Store(registry)
}

// ofLoopback refuses, where only this machine is served, requests for another name: a page of
// another site whose name has come to mean this machine could read the figures else.
func (s *Server) ofLoopback(serve http.Handler) http.Handler {
	address, _ := s.listener.Addr().(*net.TCPAddr)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		ip := net.ParseIP(strings.Trim(host, "[]"))
		if address != nil && address.IP.IsLoopback() && host != "localhost" &&
			(ip == nil || !ip.IsLoopback()) {
			const only = "only names of this machine are served: 127.0.0.1, localhost"
			http.Error(w, only, http.StatusForbidden)
			return
		}
		serve.ServeHTTP(w, r)
	})
}

// Push hands a collector's figures to a Pushgateway at a URL, as those of job ds2 and the run: for
// runs that are over before Prometheus has scraped them. They stay there until someone deletes
// them.
func Push(ctx context.Context, url, runID string, c prometheus.Collector) error {
	p := push.New(url, "ds2").Grouping("run", runID).Collector(c)
	ctx, cancel := outside.Within(ctx, outside.Answer)
	defer cancel()
	if err := outside.Err(ctx, p.PushContext(ctx)); err != nil {
		return fmt.Errorf("push metrics: %w", err)
	}
	return nil
}

// URL is where the metrics are.
func (s *Server) URL() string { return s.PageURL() + "metrics" }

// PageURL is where the page is.
func (s *Server) PageURL() string { return "http://" + s.listener.Addr().String() + "/" }

// Close stops serving at once.
func (s *Server) Close() error {
	err := s.http.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
