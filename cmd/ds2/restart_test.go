package main

import (
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store/sqlserver/servertest"
	"ds2/internal/store/sqlserver/tdstest"
	"ds2/internal/texttest"
)

// TestSQLServerRestart has a run go on through a restart of 20 s, whose logins are answered as SQL Server answers them:
// it is stopping, nobody listens to the login, it is starting, and then it takes logins while the database is still
// being recovered.
func TestSQLServerRestart(t *testing.T) {
	target := servertest.Database(t)
	behind, err := url.Parse(target)
	require.NoError(t, err)
	var killed atomic.Int64 // when, in Unix milliseconds
	loginFailed := tdstest.Error(18456, 1, 14, "Login failed for user 'sa'.")
	failed := func(tokens ...[]byte) tdstest.Decision {
		return tdstest.Decision{Close: true, Answer: tdstest.Answer(append(tokens, tdstest.Done(tdstest.DoneError))...)}
	}
	stages := []struct {
		until  time.Duration
		answer tdstest.Decision
	}{
		{3 * time.Second, failed(tdstest.Error(17188, 1, 16,
			"SQL Server cannot accept new connections, because it is being shut down."))},
		{6 * time.Second, tdstest.Decision{Close: true, Answer: []byte{0}}}, // nothing that is a token
		{9 * time.Second, failed(tdstest.Error(17187, 1, 16,
			"SQL Server is not ready to accept new client connections."))},
		{13 * time.Second, failed(tdstest.Error(4060, 1, 11, `Cannot open database "DS2" requested by the login.`),
			loginFailed)},
		{16 * time.Second, failed(loginFailed)},
		{20 * time.Second, tdstest.Decision{Answer: tdstest.Answer(
			tdstest.Error(4063, 1, 11, `Cannot open database "DS2" that was requested by the login.`),
			tdstest.Database("master", "master"), tdstest.LoginAck(), tdstest.Done(tdstest.DoneFinal))}},
	}
	decide := func(tdstest.Login) (d tdstest.Decision) {
		if at := killed.Load(); at != 0 {
			for _, s := range stages {
				if time.Since(time.UnixMilli(at)) < s.until {
					return s.answer
				}
			}
		}
		return d
	}
	server := tdstest.Start(t, tdstest.Options{Encryption: tdstest.EncryptNothing, Behind: behind.Host, Decide: decide})
	must(t, "load", "--target", target, "--size", "1MB")
	proxied := *behind
	proxied.Host = server.URL("").Host
	dir := t.TempDir()
	go func() { // once the run is under way
		for t.Context().Err() == nil {
			if samples, _ := filepath.Glob(dir + "/run/samples*"); len(samples) > 0 {
				time.Sleep(5 * time.Second)
				killed.Store(time.Now().UnixMilli())
				server.Drop()
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	stdout := must(t, quick("drive", proxied.String(), "--threads 3 --warmup-time 1s --run-time 45s --out %s/run",
		dir)...)
	texttest.Contains(t, stdout, "The audit of what this run wrote passed", " OPM")
	assert.NotEqualValues(t, 0, killed.Load(), "the run ended before the restart")
}
