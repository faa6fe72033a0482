package sqlserver

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver"
	"ds2/internal/store/sqlserver/tdstest"
	"ds2/internal/workload"
	"ds2/internal/workload/mailbox"
)

var statementsFile = flag.String("statements", "",
	"file to which TestStatements writes all texts, to be parsed as T-SQL")

// TestStatements: the text of each kind of transaction has the parameters of its operations.
func TestStatements(t *testing.T) {
	var script strings.Builder
	for _, ops := range [][]workload.Op{
		{mailbox.Read}, {mailbox.Insert}, {mailbox.Replace}, {mailbox.Delete},
		{mailbox.Insert, mailbox.Read, mailbox.Delete, mailbox.Replace},
	} {
		for _, lazy := range []bool{false, true} {
			var steps []mailbox.Step
			for _, op := range ops {
				steps = append(steps, mailbox.Step{Op: op})
			}
			s := session{steps: steps}
			s.sort()
			s.write(lazy)
			sql := string(s.sql)
			script.WriteString(sql + "\nGO\n")
			n := 0
			for _, op := range ops {
				n += parameters(op)
			}
			assert.Contains(t, sql, fmt.Sprint("@p", n))
			assert.NotContains(t, sql, "@p0")
			assert.NotContains(t, sql, fmt.Sprint("@p", n+1))
			assert.Equal(t, lazy, strings.Contains(sql, "DELAYED_DURABILITY = ON"), sql)
			assert.Equal(t, lazy || len(ops) > 1, strings.Contains(sql, "BEGIN TRANSACTION"), sql)
		}
	}
	s := session{steps: []mailbox.Step{{Op: mailbox.Delete}, {Op: mailbox.Replace}}}
	s.sort()
	s.write(true)
	const sql = "SET XACT_ABORT ON; BEGIN TRANSACTION; " +
		"UPDATE dbo.messages SET flags = @p4, crc = @p5, body = @p6 OUTPUT 0" +
		" WHERE mailbox_id = @p1 AND folder_id = @p2 AND message_id = @p3; " +
		"DELETE FROM dbo.messages OUTPUT 1 WHERE mailbox_id = @p7 AND folder_id = @p8 AND message_id = @p9; " +
		"COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);"
	assert.Equal(t, sql, string(s.sql))
	assert.Zero(t, testing.AllocsPerRun(100, func() { s.sort(); s.write(true) }), "allocations")
	if *statementsFile != "" {
		require.NoError(t, os.WriteFile(*statementsFile, []byte(script.String()), 0o600))
	}
}

// TestFewTexts: of all transactions of ten operations there are no more texts than ways to have ten of four kinds, in
// full and lazy.
func TestFewTexts(t *testing.T) {
	random, texts := rand.New(rand.NewPCG(1, 2)), map[string]bool{}
	s := session{steps: make([]mailbox.Step, 10)}
	for range 5_000 {
		for i := range s.steps {
			s.steps[i].Op = workload.Op(random.IntN(len(statements)))
		}
		s.sort()
		s.write(random.IntN(2) == 0)
		texts[string(s.sql)] = true
	}
	assert.LessOrEqual(t, len(texts), 572, "texts")
}

// TestDuplicate: an insert whose first try was committed after it was looked for is tried again.
func TestDuplicate(t *testing.T) {
	violation := tdstest.Error(2627, 1, 14, "Violation of PRIMARY KEY constraint.")
	answer := tdstest.Answer(violation, tdstest.Done(tdstest.DoneError))
	server := tdstest.Start(t, tdstest.Options{
		Encryption: tdstest.EncryptNothing, Request: func([]byte) []byte { return answer },
	})
	s, err := sqlserver.Open(server.URL("MAIL"))
	require.NoError(t, err)
	defer s.Close()
	session, err := Engine{}.Connect(t.Context(), s)
	require.NoError(t, err)
	defer session.Close(t.Context())
	err = session.Transact(t.Context(), []mailbox.Step{{Op: mailbox.Insert}}, false)
	assert.ErrorContains(t, err, "insert: Violation of PRIMARY KEY")
	assert.Equal(t, store.Serialization, store.Classify(err))
}

// TestDirect: of Babelfish nobody says that it keeps the system's cache out.
func TestDirect(t *testing.T) {
	of := func(edition string) string { return Engine{}.Direct(map[string]string{"server edition": edition}) }
	assert.NotEmpty(t, of("Developer Edition (64-bit)"))
	assert.Empty(t, of("Babelfish for PostgreSQL"))
}

// TestMostSteps: a call has room for so many parameters only.
func TestMostSteps(t *testing.T) {
	err := Engine{}.Check(t.Context(), nil, mailbox.Parameters{Batch: mostSteps + 1})
	assert.EqualError(t, err, "batch is 350: on SQL Server it must be 1 to 349 operations")
}
