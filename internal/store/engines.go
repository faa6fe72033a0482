package store

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Opener makes a Database of a target URL, without connecting.
type Opener func(target *url.URL) (Database, error)

// Engines maps URL schemes to engines. The command line hands it down; nothing else chooses an
// engine.
type Engines map[string]Opener

// Names are the engines' URL schemes, in order.
func (e Engines) Names() []string { return slices.Sorted(maps.Keys(e)) }

// Open makes a Database of a target URL such as postgres://user:password@host:5432/ds2. It does not
// connect.
func (e Engines) Open(target string) (Database, error) {
	u, err := url.Parse(target)
	if err != nil {
		// url.Error repeats the whole URL, password included.
		return nil, errors.New(
			"read target URL: it is not a URL; write postgres://user:password@host/database",
		)
	}
	open, ok := e[u.Scheme]
	if !ok {
		known := strings.Join(e.Names(), "://, ") + "://"
		return nil, fmt.Errorf("open target: no engine for scheme %q; known: %s", u.Scheme, known)
	}
	return open(u)
}
