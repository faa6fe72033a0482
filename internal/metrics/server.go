package metrics

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"
)

// Server serves /metrics.
type Server struct {
	listener net.Listener
	http     http.Server
	served   chan error
}

// Serve serves the collectors' figures, and the CPU and memory of ds2 itself, under /metrics at an address such as
// 127.0.0.1:9464. Port 0 takes a free one.
func Serve(address string, all ...prometheus.Collector) (*Server, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registry.MustRegister(all...)
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w", err)
	}
	return serve(listener, registry, clientTime), nil
}

// What clients may cost a run: so many connections and so many scrapes at a time, and so long for each of their steps. A
// scrape beyond that is told 503, a connection waits.
const (
	maxConnections = 16
	maxScrapes     = 4
	maxHeader      = 16 << 10
	clientTime     = 10 * time.Second // Prometheus's own default for a scrape
)

func serve(listener net.Listener, registry *prometheus.Registry, patience time.Duration) *Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: maxScrapes}))
	s := &Server{listener: listener, served: make(chan error, 1)}
	s.http = http.Server{
		Handler: mux, MaxHeaderBytes: maxHeader,
		ReadTimeout: patience, WriteTimeout: patience, IdleTimeout: 6 * patience, // Prometheus comes again each minute, at least
		ErrorLog: log.New(io.Discard, "", 0), // the client is told; a log of its own would tear the view of the run
	}
	go func() { s.served <- s.http.Serve(netutil.LimitListener(listener, maxConnections)) }()
	return s
}

// URL is where the metrics are.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/metrics" }

// Close stops serving at once.
func (s *Server) Close() error {
	err := s.http.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
