package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/nightly"
	"ds2/internal/promtest"
)

// silent is an address that accepts connections, lets those who speak PostgreSQL log in where it
// should, and says nothing more.
func silent(t *testing.T, login bool) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			if login {
				go func() {
					b := pgproto3.NewBackend(conn, conn)
					if _, err := b.ReceiveStartupMessage(); err == nil {
						b.Send(&pgproto3.AuthenticationOk{})
						b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
						b.Flush()
					}
				}()
			}
		}
	}()
	return listener.Addr().String()
}

// TestSilentParties has each party outside ds2 accept what it is asked and never answer: ds2 goes
// on or ends by itself, or says what it waits for and ends at the first Ctrl-C.
func TestSilentParties(t *testing.T) {
	nightly.Long(t, "waits for over a minute")
	t.Parallel()
	server := pgtest.Start(t, localpg.Options{
		Settings: map[string]string{"fsync": "off", "max_prepared_transactions": "2"},
	})
	proxied := newTroubledServer(t)
	alone := pgtest.Start(
		t,
		localpg.Options{Settings: map[string]string{"synchronous_commit": "on"}},
	)
	for _, s := range []*localpg.Server{server, proxied.Server, alone} {
		must(t, "load", "--target", s.URL("ds2"), "--size", "1MB", "--quiet")
	}
	pgtest.Exec(
		t,
		pgtest.DB(t, alone.URL("postgres")),
		"ALTER SYSTEM SET synchronous_standby_names = '*'",
		"SELECT pg_reload_conf()",
	)
	admin := pgtest.DB(t, server.URL("postgres"))
	admin.SetMaxOpenConns(1)
	database := func(name string) string {
		pgtest.Exec(t, admin, "CREATE DATABASE "+name+" TEMPLATE ds2")
		return server.URL(name)
	}
	drive := func(name, more string) []string {
		return quick("drive", database(name), "--run-time 3s --out out %s", more)
	}
	closed := silent(t, false)
	speechless := "postgres://ds2:x@" + silent(t, true) + "/ds2?sslmode=disable"
	relay := startRelay(t)
	relay.To(promtest.StartNodeExporter(t))
	smartctl := textFile(t, "smartctl", "#!/bin/sh\nexec sleep 600\n")
	require.NoError(t, os.Chmod(smartctl, 0o755))
	for name, then := range map[string]string{
		"held": "SET application_name = 'reporting'", "prepared": "PREPARE TRANSACTION 'forgotten'",
	} {
		locked(t, database(name), "UPDATE products SET price = 1 WHERE prod_id = 1",
			"UPDATE inventory SET sales = sales", "LOCK TABLE inventory IN SHARE MODE", then)
	}

	cases := []struct {
		why     string
		args    []string
		code    int    // exitInterrupted: it is interrupted when it has said what it waits for
		says    string // on either stream
		driving func() // happens when users are at work
	}{
		{
			why: "a Pushgateway", args: drive("push", "--pushgateway http://"+closed),
			says: "warning: push metrics: no answer within 10s",
		},
		{
			why:  "an exporter",
			args: drive("exporter", "--exporter http://"+closed),
			code: exitFailed,
			says: "--exporter: ",
		},
		{
			why:     "an exporter in mid-run",
			args:    drive("mid", "--run-time 10s --exporter http://"+relay.Address),
			says:    "wrote passed",
			driving: func() { relay.To(closed) },
		},
		{
			why:  "a meter",
			args: drive("meter", "--power 'sleep 600'"),
			code: exitFailed,
			says: "no answer within 30s",
		},
		{
			why:  "a password",
			args: words("verify --target %s --password-command 'sleep 600'", server.URL("ds2")),
			code: exitFailed,
			says: "run --password-command: no answer within 30s",
		},
		{why: "a drive", args: drive("smart", "--smart on"), says: "note: SMART"},
		{
			why: "an event's command", args: drive("event",
				"--details --run-time 22s "+
					"--event '11s=sleep 600' --event '12s=sleep 600'"),
			says: "The command of event 1 failed",
		},
		{
			why: "a restore",
			args: quick(
				"bench",
				database("restores"),
				"--run-time 1s --restore-command 'sleep 600' "+
					"--settle 0 --idle 0 --cooldown 0 --out out",
			),
			code: exitInterrupted,
			says: "wait for the restore command",
		},
		{
			why: "a server at the connect",
			args: words("load --size 1MB --quiet --target postgres://ds2:x@%s/ds2",
				closed),
			code: exitFailed,
			says: "is accepted, and nothing answers in time",
		},
		{
			why:  "a server at the first query",
			args: words("verify --target %s", speechless),
			code: exitInterrupted,
			says: "note: waiting for ",
		},
		{
			why:  "a run's server at the first query",
			args: quick("drive", speechless, "--run-time 1s --out out"),
			code: exitInterrupted,
			says: "note: waiting for ",
		},
		{
			why:  "a session that holds a lock",
			args: words("reset --quiet --target %s", server.URL("held")),
			code: exitInterrupted,
			says: "holds a lock: reporting of user ",
		},
		{
			why:  "a synchronous standby",
			args: words("reset --quiet --target %s", alone.URL("ds2")),
			code: exitInterrupted,
			says: `commits wait for a synchronous standby: synchronous_standby_names is "*"`,
		},
		{
			why: "a prepared transaction", args: words("load --quiet --drop --size 1MB --target %s",
				server.URL("prepared")),
			code: exitInterrupted, says: `the prepared transaction "forgotten"`,
		},
		{
			why: "a server at the end", args: quick(
				"drive",
				proxied.through(t, "ds2"),
				"--run-time 10s --drain-time 1s --operation-timeout 1s --verify none --out out",
			), code: exitFailed,
			says: "OPM", driving: func() { proxied.swallow(t) },
		},
	}
	programs := make([]*program, len(cases))
	says := func(i int) bool {
		return strings.Contains(
			programs[i].stdout.String()+programs[i].stderr.String(),
			cases[i].says,
		)
	}
	var said sync.WaitGroup
	for i, c := range cases { // all at once, as most of them wait
		programs[i] = startProgram(t, c.args...)
		programs[i].Env = append(os.Environ(), "PATH="+filepath.Dir(smartctl)+":"+os.Getenv("PATH"))
		programs[i].start(t)
		if c.code == exitInterrupted {
			said.Go(func() {
				assert.Eventually(t, func() bool {
					return says(i) || programs[i].endsWithin(0)
				}, patience,
					100*time.Millisecond, c.why)
				programs[i].Process.Signal(syscall.SIGINT)
			})
		}
	}
	for i, c := range cases {
		if c.driving != nil {
			programs[i].awaitOrders(t)
			c.driving()
		}
	}
	said.Wait()
	for i, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			programs[i].ends(t, c.code)
			assert.True(
				t,
				says(i),
				"it does not say %q:\n%s%s",
				c.says,
				&programs[i].stdout,
				&programs[i].stderr,
			)
		})
	}
}
