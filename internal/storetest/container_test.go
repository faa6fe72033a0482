package storetest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/dockertest"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store/postgres"
	ds2postgres "ds2/internal/workload/ds2/postgres"
)

// TestConformanceInContainer runs the suite on PostgreSQL in a container. Where Docker does not
// answer, TestConformance, on the server of package localpg, has to do.
func TestConformanceInContainer(t *testing.T) {
	at := dockertest.StartPostgres(t)
	first := pgtest.Open(t, postgres.Open, at(dockertest.FirstDatabase)).DB()
	assert.NoError(
		t,
		first.PingContext(t.Context()),
		"the database that the container was told to make",
	)
	databases := 0
	database := func(testing.TB) string {
		databases++
		return at(fmt.Sprintf("ds2_%d", databases))
	}
	holdEngine(t, engine{
		open: postgres.Open, calls: ds2postgres.Connect, kill: killPostgres, database: database,
	})
}
