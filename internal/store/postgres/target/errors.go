package target

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// ServerError is what the server said, without the prefix and suffix that pgconn prints around it.
type ServerError struct{ *pgconn.PgError }

func (e ServerError) Error() string {
	if e.Detail == "" {
		return e.Message
	}
	return e.Message + ": " + e.Detail
}

func (e ServerError) Unwrap() error { return e.PgError }

// SQLSTATEs on which more depends than the class of an error.
const (
	InsufficientPrivilege = "42501"
	UndefinedDatabase     = "3D000"
	UndefinedTable        = "42P01"
	DiskFull              = "53100"
	CompletionUnknown     = "40003"
	QueryCanceled         = "57014"
)

// State is the SQLSTATE of a server's error; empty where it is none.
func State(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}

// Lost tells whether an error means that the server ended the connection, as it does when one of its processes breaks
// down over damaged data. A statement that somebody cancelled says nothing of the data, and the connection stands.
func Lost(err error) bool {
	server, ok := errors.AsType[*pgconn.PgError](err)
	return err != nil && (!ok || server.Code[:2] == "08" || server.Code[:2] == "57" && server.Code != QueryCanceled)
}
