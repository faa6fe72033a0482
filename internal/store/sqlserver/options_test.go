package sqlserver

import (
	"encoding/pem"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/microsoft/go-mssqldb/msdsn"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	"ds2/schema"
)

// TestOptions: what a target may say, and what is said of the rest.
func TestOptions(t *testing.T) {
	certificate := selfSigned(t, "127.0.0.1", false)
	file := func(name string, text []byte) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, text, 0o600))
		return url.QueryEscape(path)
	}
	der := certificate.Certificate[0]
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for _, c := range []struct{ why, query, refused string }{
		{"none", "", ""},
		{"Microsoft's other names", "Connect+Timeout=5&Trust+Server+Certificate=true", ""},
		{"a slip", "encrpyt=true", `option "encrpyt" is unknown`},
		{"Kerberos from Linux", "authenticator=krb5", "krb5 is not in this ds2"},
		{"a certificate in PEM called .crt", "encrypt=true&certificate=" + file("x.crt", text), ""},
		{"one in DER called .cer", "encrypt=true&certificate=" + file("x.cer", der), ""},
		{"a file without a certificate", "encrypt=true&certificate=" + file("x.pem", []byte("nothing")), "holds no certificate"},
		{"a file that is not there", "encrypt=true&certificate=%2Fnowhere.pem", "no such file"},
	} {
		u, err := url.Parse("sqlserver://user:secret@host?" + c.query)
		require.NoError(t, err)
		s, err := Open(u)
		if (err == nil) != (c.refused == "") || err != nil && (!strings.Contains(err.Error(), c.refused) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v", c.why, err)
		}
		if err == nil && strings.Contains(c.query, "&certificate") && s.(*Store).config.TLSConfig.RootCAs == nil {
			t.Errorf("%s: the certificate is not used", c.why)
		}
	}
}

// TestPasswordsInClear: a login is made only where its password cannot be read on the way, and Azure's certificate is
// looked at.
func TestPasswordsInClear(t *testing.T) {
	for target, hides := range map[string]bool{
		"sqlserver://u:p@host": false, "sqlserver://u:p@host?encrypt=false": false, "sqlserver://u:p@host?encrypt=true": true,
		"sqlserver://u:p@host?encrypt=strict": true, "sqlserver://u:p@127.0.0.1?encrypt=disable": true, "sqlserver://u:p@localhost": true,
		"sqlserver://u:p@x.database.windows.net": true,
	} {
		if s := open(t, target); s.hides() != hides {
			t.Errorf("%s: hides %v", target, !hides)
		}
	}
	if s := open(t, "sqlserver://u:p@x.database.windows.net"); s.config.Encryption != msdsn.EncryptionRequired || s.config.TrustServerCertificate {
		t.Errorf("Azure: encryption %v, trusts unseen %v", s.config.Encryption, s.config.TrustServerCertificate)
	}
	s := open(t, "sqlserver://u:p@host")
	s.server = &server{edition: 3, major: 16, fullText: true}
	var params schema.Params
	params.Layout.Password = "Secret1!"
	params.Layout.Login = "ds2user"
	if _, err := s.Adapt(t.Context(), &params); store.Classify(err) != store.Config || !strings.Contains(err.Error(), "in clear") {
		t.Errorf("a login over a network in clear: %v", err)
	}
}
