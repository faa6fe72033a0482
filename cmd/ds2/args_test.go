package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPasswordsAreTakenOutOfArguments(t *testing.T) {
	for _, c := range []struct{ given, left string }{
		{"postgres://u:se:cr@et@h/db", "postgres://u:********@h/db"},
		{"--target=sqlserver://sa:pw@h?database=DS2", "--target=sqlserver://sa:**@h?database=DS2"},
		{"postgres://h/db?user=u&password=pw&sslmode=disable", "postgres://h/db?user=u&password=**&sslmode=disable"},
		{"postgres://u@h/db", "postgres://u@h/db"},                 // no password
		{"--driver-password-file", "--driver-password-file"},       // a flag, not a password
		{"http://127.0.0.1:9090/a@b", "http://127.0.0.1:9090/a@b"}, // a port, not a password
	} {
		original := string([]byte(c.given)) // not a constant, whose memory cannot be written
		own := takeArgs([]string{original})
		assert.Equal(t, c.given, own[0])
		assert.Equal(t, c.left, original)
	}
}

// The system's own view of a running ds2, which here waits for the answer of a server that gives none.
func TestPasswordIsNotInTheProcessTitle(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("process titles are read from /proc")
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	p := begin(t, words("verify --target postgres://u:geheim@%s/db", silent.Addr())...)
	connection, err := silent.Accept() // by now the arguments have been read
	require.NoError(t, err)
	defer connection.Close()
	title, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.Process.Pid))
	require.NoError(t, err)
	assert.Contains(t, string(title), "postgres://u:******@")
}
