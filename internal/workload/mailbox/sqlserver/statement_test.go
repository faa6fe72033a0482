package sqlserver

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/store/sqlserver"
	"ds2/internal/tdstest"
	"ds2/internal/workload"
	"ds2/internal/workload/mailbox"
)

var statementsFile = flag.String("statements", "",
	"file to which TestStatements writes all texts, to be parsed as T-SQL")

// TestStatements: each operation has its statement, and its lazy one commits so.
func TestStatements(t *testing.T) {
	var script strings.Builder
	names := workload.Names(mailbox.Workload{}.Operations())
	for op, name := range names {
		for i, lazy := range []bool{false, true} {
			s := statements[i*len(names)+op]
			script.WriteString(s.SQL + "\nGO\n")
			assert.Equal(t, name, s.Name)
			assert.Equal(t, lazy, strings.Contains(s.SQL, "DELAYED_DURABILITY = ON"), s.SQL)
			assert.Equal(t, lazy, strings.Contains(s.SQL, "BEGIN TRANSACTION"), s.SQL)
			assert.NotContains(t, s.SQL, "dbo.", "it is in the user's default schema")
		}
	}
	if *statementsFile != "" {
		require.NoError(t, os.WriteFile(*statementsFile, []byte(script.String()), 0o600))
	}
}

// TestDuplicate: an insert whose first try was committed after it was looked for is tried again.
func TestDuplicate(t *testing.T) {
	violation := tdstest.Error(2627, 1, 14, "Violation of PRIMARY KEY constraint.")
	answer := tdstest.Answer(violation, tdstest.Done(tdstest.DoneError))
	server := tdstest.Start(t, tdstest.Options{Request: func([]byte) []byte { return answer }})
	s := pgtest.Open(t, sqlserver.Open, server.URL("MAIL").String())
	session, err := Engine{}.ConnectUser(t.Context(), s)
	require.NoError(t, err)
	defer session.Close(t.Context())
	err = session.Transact(t.Context(), &mailbox.Step{Op: mailbox.Insert}, false)
	assert.ErrorContains(t, err, "insert: Violation of PRIMARY KEY")
	assert.Equal(t, store.Serialization, store.Classify(err))
}

// TestDirect: Babelfish is not known to bypass the system's cache.
func TestDirect(t *testing.T) {
	of := func(edition string) string {
		return Engine{}.DescribeDirectIO(map[string]string{"server edition": edition})
	}
	assert.NotEmpty(t, of("Developer Edition (64-bit)"))
	assert.Empty(t, of("Babelfish for PostgreSQL"))
}
