//go:build !linux

package exporter

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// New is an error: other systems than Linux have exporters of their own.
func New([]string) (prometheus.Collector, error) {
	return nil, errors.New("ds2 exporter runs on Linux; elsewhere use windows_exporter")
}
