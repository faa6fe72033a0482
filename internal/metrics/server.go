package metrics

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
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
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	s := &Server{listener: listener, served: make(chan error, 1)}
	s.http.Handler = mux
	s.http.ReadHeaderTimeout = 10 * time.Second
	go func() { s.served <- s.http.Serve(listener) }()
	return s, nil
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
