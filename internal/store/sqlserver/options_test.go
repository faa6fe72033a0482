package sqlserver

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/microsoft/go-mssqldb/msdsn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	"ds2/schema"
)

// TestOptions: what a target may say, and what is said of the rest.
func TestOptions(t *testing.T) {
	certificate := selfSigned(t, "127.0.0.1", false)
	der := filepath.Join(t.TempDir(), "x.der")
	require.NoError(t, os.WriteFile(der, certificate.Certificate[0], 0o600))
	for _, c := range []struct{ why, query, refused string }{
		{"none", "", ""},
		{"Microsoft's other names", "Connect+Timeout=5&Trust+Server+Certificate=true", ""},
		{"a slip", "encrpyt=true", `option "encrpyt" is unknown`},
		{"Kerberos from Linux", "authenticator=krb5", "krb5 is not in this ds2"},
		{
			"a certificate in PEM",
			"encrypt=true&certificate=" + url.QueryEscape(pemFile(t, certificate)), "",
		},
		{"one in DER", "encrypt=true&certificate=" + url.QueryEscape(der), ""},
		{"a file that is not there", "encrypt=true&certificate=%2Fnowhere.pem", "no such file"},
	} {
		u, err := url.Parse("sqlserver://user:secret@host?" + c.query)
		require.NoError(t, err)
		s, err := Open(u)
		if c.refused != "" {
			assert.ErrorContains(t, err, c.refused, c.why)
			assert.NotContains(t, err.Error(), "secret", c.why)
			continue
		}
		require.NoError(t, err, c.why)
		if strings.Contains(c.query, "&certificate") {
			assert.NotNil(t, s.(*Store).config.TLSConfig.RootCAs, c.why)
		}
	}
}

// TestPasswordsInClear: a login is made only where its password cannot be read on the way, and
// Azure's certificate is looked at.
func TestPasswordsInClear(t *testing.T) {
	for target, hides := range map[string]bool{
		"host": false, "host?encrypt=false": false, "host?encrypt=true": true, "host?encrypt=strict": true,
		"127.0.0.1?encrypt=disable": true, "localhost": true, "x.database.windows.net": true,
	} {
		assert.Equal(t, hides, open(t, "sqlserver://u:p@"+target).hidesPassword(), target)
	}
	azure := open(t, "sqlserver://u:p@x.database.windows.net").config
	assert.Equal(t, msdsn.Encryption(msdsn.EncryptionRequired), azure.Encryption)
	assert.False(t, azure.TrustServerCertificate)
	s := open(t, "sqlserver://u:p@host")
	s.server = &server{edition: 3, major: 16, fullText: true}
	_, err := s.Adapt(
		t.Context(),
		&schema.Params{Layout: schema.Layout{Login: "ds2user", Password: "Secret1!"}},
	)
	assert.ErrorContains(t, err, "in clear")
	assert.Equal(t, store.Config, store.Classify(err))
}

// selfSigned is a certificate such as SQL Server makes for itself at each start, for a name or an
// IP address; negative gives it a negative serial number, as half of those have.
func selfSigned(t testing.TB, name string, negative bool) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	serial := bytes.Repeat([]byte{0x5A}, 16)
	template := &x509.Certificate{
		SerialNumber:          new(big.Int).SetBytes(serial),
		Subject:               pkix.Name{CommonName: "SSL_Self_Signed_Fallback"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	// crypto/x509 makes none; the signature is wrong, which those who trust any ignore
	if negative {
		der[bytes.Index(der, serial)] |= 0x80
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// pemFile writes a certificate as PEM and gives its path.
func pemFile(t testing.TB, certificate tls.Certificate) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "server.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}
