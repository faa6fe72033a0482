package postgres

import (
	"cmp"
	"crypto/tls"
	_ "embed"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"

	"ds2/internal/atomicfile"
	"ds2/internal/datatable"
	"ds2/internal/outside"
)

// minTLS is the parameter of the oldest version of TLS.
const minTLS = "ssl_min_protocol_version"

var versionsOfTLS = map[string]uint16{
	"TLSv1": tls.VersionTLS10, "TLSv1.1": tls.VersionTLS11,
	"TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13,
}

// libpqOnly are parameters of libpq that are not for pgx, and what to do about those that ds2 does
// not keep: to leave them out in silence would be to connect where the user did not want to.
//
//go:embed libpq.tsv
var libpqTable string

var libpqOnly = datatable.Rows(libpqTable, 2)

// parseTarget reads a target URL as libpq does.
func parseTarget(u *url.URL) (*pgx.ConnConfig, error) {
	options := u.Query()
	for _, p := range libpqOnly {
		if p[1] != "" && options.Has(p[0]) && options.Get(p[0]) != "disable" {
			return nil, fmt.Errorf("ds2 does not take the parameter %s: %s", p[0], p[1])
		}
	}
	oldest, known := versionsOfTLS[options.Get(minTLS)]
	if options.Has(minTLS) && !known {
		return nil, fmt.Errorf("%s is %q: write TLSv1, TLSv1.1, TLSv1.2 or TLSv1.3",
			minTLS, options.Get(minTLS))
	}
	for _, name := range []string{"sslcert", "sslrootcert", "sslkey"} {
		path := cmp.Or(options.Get(name), os.Getenv("PG"+strings.ToUpper(name)))
		// What is not there the client names where it is needed. It reads any other file to its
		// end.
		content, err := atomicfile.Read(path, outside.MaxText)
		if _, notThere := errors.AsType[*fs.PathError](err); err != nil && !notThere {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := checkKey(path, content, options.Has("sslpassword")); err != nil {
			return nil, err
		}
	}

	config, err := pgx.ParseConfig(ofClient(u).String())
	if err != nil {
		return nil, err
	}
	if version := config.MinProtocolVersion; version != "3.0" {
		return nil, fmt.Errorf("min_protocol_version is %s: leave it out, as ds2 needs no more than 3.0, which every server speaks",
			version)
	}
	if config.TLSConfig != nil {
		config.TLSConfig.MinVersion = max(config.TLSConfig.MinVersion, oldest)
	}
	for _, other := range config.Fallbacks {
		if other.TLSConfig != nil {
			other.TLSConfig.MinVersion = max(other.TLSConfig.MinVersion, oldest)
		}
	}
	return config, nil
}

// checkKey refuses a key that is encrypted in the form of PKCS #8, which no part of Go reads, or
// without its password.
func checkKey(path string, content []byte, password bool) error {
	block, _ := pem.Decode(content)
	switch {
	case block == nil:
	case block.Type == "ENCRYPTED PRIVATE KEY":
		return fmt.Errorf("the key %s is encrypted in a form that ds2 does not read, PKCS #8: write it in another one by openssl rsa -aes256 -traditional, or decrypt it by openssl pkey",
			path)
	case block.Headers["DEK-Info"] != "" && !password:
		return fmt.Errorf("the key %s is encrypted: give its password by sslpassword in the URL",
			path)
	}
	return nil
}

// ofClient is a target URL with a limit to how long a connection may take, and without what is only
// for libpq.
func ofClient(u *url.URL) *url.URL {
	options := u.Query()
	for _, p := range libpqOnly {
		options.Del(p[0])
	}
	if !options.Has("connect_timeout") && os.Getenv("PGCONNECT_TIMEOUT") == "" {
		options.Set("connect_timeout", fmt.Sprint(int(outside.Connect.Seconds())))
	}
	of := *u
	of.RawQuery = strings.ReplaceAll(options.Encode(), "+", "%20") // as libpq takes a blank
	return &of
}
