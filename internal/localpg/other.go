//go:build !unix

package localpg

import (
	"context"
	"errors"
)

// Server is none here: the methods are there so that what uses them compiles.
type Server struct{}

// Start refuses.
func Start(context.Context, Options) (*Server, error) {
	return nil, errors.New(
		"a PostgreSQL of ds2's own is started on Linux and macOS only: install one, " +
			"and use `ds2 load` and `ds2 drive` with its --target",
	)
}

func (s *Server) URL(string) string             { return "" }
func (s *Server) Version() string               { return "" }
func (s *Server) BinDir() string                { return "" }
func (s *Server) DataDir() string               { return "" }
func (s *Server) Stop() error                   { return nil }
func (s *Server) Kill()                         {}
func (s *Server) Restart(context.Context) error { return nil }
