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
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// selfSigned is a certificate such as SQL Server makes for itself at each start, for a name or an IP address; negative
// gives it a negative serial number, as half of those have.
func selfSigned(t testing.TB, name string, negative bool) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	serial := bytes.Repeat([]byte{0x5A}, 16)
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial), Subject: pkix.Name{CommonName: "SSL_Self_Signed_Fallback"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	if negative { // crypto/x509 makes none; the signature is wrong then, at which nobody looks who trusts unseen
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
