package main

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg"
	"ds2/internal/localpg/pgtest"
)

// TestJournal kills the server amid a run that keeps a journal, and ends the run in each way that
// it may end. Whatever the record has besides, ds2 verify compares its journal: nothing is lost,
// and then an order that is taken away is missed by its number.
func TestJournal(t *testing.T) {
	t.Parallel()
	server, target := loadedServer(t)
	db := pgtest.DB(t, target)
	db.SetMaxIdleConns(0)
	for _, c := range []struct {
		why string
		end func(t *testing.T, p *program, s *localpg.Server)
	}{
		{"the server is back in time", func(t *testing.T, p *program, s *localpg.Server) {
			require.NoError(t, s.Restart(t.Context()))
			orders := fmt.Sprint("SELECT count(*) > ", pgtest.Value[int](t, db, "SELECT count(*) + 20 FROM orders"),
				" FROM orders")
			pgtest.Await(t, db, orders)
			require.NoError(t, p.Process.Signal(syscall.SIGINT))
			p.awaitEnd(t) // passed or failed, by how long the outage was
		}},
		{"the server is gone, and Ctrl-C", func(t *testing.T, p *program, s *localpg.Server) {
			require.NoError(t, p.Process.Signal(syscall.SIGINT))
			p.ends(t, exitInterrupted)
			require.NoError(t, s.Restart(t.Context()))
		}},
		{"ds2 is killed", func(t *testing.T, p *program, s *localpg.Server) {
			p.Process.Kill()
			<-p.ended
			require.NoError(t, s.Restart(t.Context()))
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			must(t, "reset", "--target", target, "--quiet")
			p := begin(t, quick("drive", target,
				"--run-time 0 --max-retries 1000 --journal --verify none --quiet --out out")...)
			pgtest.Await(
				t,
				db,
				"SELECT max(orderid) > 1210 FROM orders",
			) // those from 1201 on are the run's
			server.Kill()
			c.end(t, p, server)
			verify := words("verify --target %s --quiet --record %s", target, p.out)
			assert.Contains(t, must(t, verify...),
				"ok      acknowledged purchases that were lost: expected 0, found 0\n")
			// Not 1201: a purchase that is rolled back uses up its number.
			first := pgtest.Value[int](
				t,
				db,
				"SELECT min(orderid) FROM orders WHERE orderid > 1200",
			)
			for _, table := range []string{"cust_hist", "orderlines", "orders"} {
				pgtest.Exec(t, db, fmt.Sprint("DELETE FROM ", table, " WHERE orderid = ", first))
			}
			stdout, _ := ends(t, exitVerdict, verify...)
			const lost = "FAILED  acknowledged purchases that were lost: expected 0, found 1: orders %d\n"
			assert.Contains(t, stdout, fmt.Sprintf(lost, first))
		})
	}
}
