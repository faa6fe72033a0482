package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"ds2/internal/outside"
	"ds2/internal/store"
	"ds2/internal/store/postgres"
)

// targetFlags are the flags that name databases: URLs, or DS2's bare host names with an engine and
// a database name.
type targetFlags struct {
	target, engine, database, passwordCommand string

	more bool // the next --target adds to those before it: a configuration file did not give those
}

func (f *targetFlags) add(flags *pflag.FlagSet) {
	add := func(text string) (string, error) {
		if f.more {
			text = f.target + ";" + text
		}
		f.more = true
		return text, nil
	}
	declare(flags, "target", fields{
		"target":        parsed[string]{&f.target, "string", add, same, ""},
		"engine":        &f.engine,
		"database-name": &f.database,
		passwordCommand: &f.passwordCommand,
	})
}

// passwordKept is how long the answer of a password command serves: all users that connect or come
// back at once need it only once.
const passwordKept = 10 * time.Second

// askPassword gives what a command line prints, without its last line's end. What it printed is in
// no error.
func askPassword(line string) func(context.Context) (string, error) {
	var mu sync.Mutex
	var password string
	var asked time.Time
	return func(ctx context.Context) (string, error) {
		// Held while the command runs: sessions that open meanwhile wait for the same answer.
		mu.Lock()
		defer mu.Unlock()
		if !asked.IsZero() && time.Since(asked) < passwordKept {
			return password, nil
		}
		printed, err := outside.Output(ctx, line)
		if err != nil {
			return "", fmt.Errorf("run --password-command: %w", err)
		}
		if password = strings.TrimRight(printed, "\r\n"); password == "" {
			return "", errors.New("run --password-command: it printed nothing")
		}
		asked = time.Now()
		return password, nil
	}
}

const (
	defaultDatabase = "DS2" // as DS2 names it
	exampleTarget   = "postgres://user:password@host:5432/ds2"
)

// passwordAsker is an engine that can have the password, or a token in its place, of every
// connection from now on given by a function. It is called before the database is connected to.
type passwordAsker interface {
	AskPassword(ask func(ctx context.Context) (string, error))
}

// open makes the stores; the caller closes them. It does not connect.
func (f targetFlags) open() ([]store.Database, error) {
	urls, err := f.urls()
	if err != nil {
		return nil, err
	}
	var stores []store.Database
	for _, u := range urls {
		s, err := engines().Open(u)
		if err != nil {
			closeStores(stores)
			return nil, flagError("target", err)
		}
		if f.passwordCommand != "" {
			engine, ok := s.(passwordAsker)
			if !ok {
				closeStores(append(stores, s))
				return nil, flagError("password-command",
					store.Unsupported(s, "asking for passwords"))
			}
			engine.AskPassword(askPassword(f.passwordCommand))
		}
		stores = append(stores, s)
	}
	return stores, nil
}

func closeStores(stores []store.Database) {
	for _, s := range stores {
		s.Close() // nothing is left to be said to it
	}
}

// urls reads --target, in which several stand with ; between.
func (f targetFlags) urls() ([]string, error) {
	if names := engines().Names(); f.engine != "" && !slices.Contains(names, f.engine) {
		return nil, usageError("--engine: unknown engine %q: use %s", f.engine,
			strings.Join(names, ", "))
	}
	target := f.target
	if target == "" {
		if f.engine == "" {
			return nil, usageError("--target is missing: give the database's URL, such as " +
				exampleTarget)
		}
		target = "localhost"
	}
	var urls []string
	// An unescaped ; in a password parts its URL, so that what follows is none.
	url := strings.Contains(target, "://")
	for text := range strings.SplitSeq(target, ";") {
		if url && !strings.Contains(text, "://") {
			return nil, usageError(
				"--target: one of several is not a URL; in a password, ; is written %%3B",
			)
		}
		u, err := f.url(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		urls = append(urls, u)
	}
	return urls, nil
}

func (f targetFlags) url(text string) (string, error) {
	if strings.Contains(text, "://") {
		if f.database != "" {
			return "", usageError("--database-name needs a host name as --target; in a URL the database is part of it")
		}
		// A / in a password ends the host before the @: the URL parses, but has no user.
		if u, err := url.Parse(text); err == nil && u.User == nil && strings.Contains(text, "@") {
			return "", usageError("--target: in the user or password of the URL, / is written %%2F, ? %%3F, # %%23 and @ %%40")
		}
		// libpq takes this scheme, too.
		if address, other := strings.CutPrefix(text, "postgresql://"); other {
			text = postgres.Engine + "://" + address
		}
		return text, nil
	}
	switch {
	case strings.ContainsAny(text, "@="): // it holds a password, so it is not repeated
		return "", usageError("--target: user and password are given in a URL, such as " +
			exampleTarget)
	case text == "":
		return "", usageError("--target: a host name is empty")
	case f.engine == "" && strings.Contains(text, "/"):
		return "", usageError("--target: %q is not a URL, such as %s", text, exampleTarget)
	case f.engine == "":
		return "", usageError(
			"--target: %q is a host name, which also needs --engine; or give a URL, such as %s",
			text,
			exampleTarget,
		)
	}
	// DS2 gives no user either: PGUSER and its like, or SQLCMDUSER, have it.
	database := cmp.Or(f.database, defaultDatabase)
	u := url.URL{
		Scheme:   f.engine,
		Host:     text,
		RawQuery: url.Values{"database": {database}}.Encode(),
	}
	if _, err := url.Parse(u.String()); err != nil {
		return "", usageError("--target: invalid host name %q", text)
	}
	return u.String(), nil
}
