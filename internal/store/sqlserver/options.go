package sqlserver

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/microsoft/go-mssqldb/msdsn"

	"ds2/internal/datatable"
)

// targetOptions are the options of a target, those of go-mssqldb that make sense here, and what
// Microsoft's other clients call some of them. go-mssqldb ignores what it does not know, and a slip
// in encrypt would go unnoticed.
//
//go:embed target.tsv
var targetTable string

var targetOptions = readOptionNames()

// readOptionNames gives for each name of an option, also that of other clients, the one that go-
// mssqldb knows, which is the first of its row.
func readOptionNames() map[string]string {
	names := map[string]string{}
	for _, row := range datatable.Rows(targetTable, 3) {
		for _, name := range row {
			names[name] = row[0]
		}
	}
	return names
}

// readTarget takes over what a target says.
func (s *Store) readTarget(target *url.URL) (err error) {
	u := *target
	query := url.Values{}
	for name, values := range target.Query() {
		key, known := targetOptions[strings.ToLower(name)]
		if name == "" || !known {
			return fmt.Errorf("the option %q is unknown", name)
		}
		query[key] = append(query[key], values...)
	}
	if query.Get("authenticator") == "krb5" {
		return errors.New("authenticator=krb5 is not in this ds2: use a user of the server, an access token, or authenticator=winsspi from Windows")
	}
	if text := query.Get(msdsn.ConnectionTimeout); text != "" {
		// go-mssqldb would take it for the longest silence of the whole connection: backups,
		// restores and index builds are longer.
		seconds, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return fmt.Errorf("%s is not a number of seconds: %q", msdsn.ConnectionTimeout, text)
		}
		s.loginTimeout = cmp.Or(time.Duration(seconds)*time.Second, s.loginTimeout)
		query.Del(msdsn.ConnectionTimeout)
	}
	if strings.HasSuffix(strings.ToLower(u.Hostname()), ".database.windows.net") &&
		!query.Has(msdsn.Encrypt) {
		query.Set(msdsn.Encrypt, "true") // without it any certificate would be taken
	}
	u.RawQuery = query.Encode()
	if s.config, err = msdsn.Parse(u.String()); err != nil {
		return err // it names the option, never the password
	}
	s.config.Database = cmp.Or(s.config.Database, "DS2")
	if !query.Has(msdsn.AppName) {
		s.config.AppName = "ds2"
	}
	if !query.Has("fedauth") {
		return nil
	}
	if s.entra = &u; newFedAuthConnector == nil {
		return errors.New("fedauth is not in this ds2: build it with -tags azuread, or leave user and fedauth out and have --password-command print an access token")
	}
	return nil
}

// hidesPassword tells whether what is sent cannot be read on its way: by encryption from the first
// packet to the last, or since it does not leave this machine.
func (s *Store) hidesPassword() bool {
	ip := net.ParseIP(s.config.Host)
	here := strings.EqualFold(s.config.Host, "localhost") || ip != nil && ip.IsLoopback()
	return here || s.config.Encryption == msdsn.EncryptionRequired ||
		s.config.Encryption == msdsn.EncryptionStrict
}
