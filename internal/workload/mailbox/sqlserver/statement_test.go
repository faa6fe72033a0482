package sqlserver

import (
	"flag"
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

var statementsFile = flag.String("statements", "", "file to which TestStatements writes all texts, to be parsed as T-SQL")

// TestStatements: the text and the declaration of each kind of transaction have the same parameters.
func TestStatements(t *testing.T) {
	var script strings.Builder
	for _, ops := range [][]workload.Op{{mailbox.Read}, {mailbox.Insert}, {mailbox.Replace}, {mailbox.Delete}, {mailbox.Insert, mailbox.Read, mailbox.Delete, mailbox.Replace}} {
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
			for declared := range strings.SplitSeq(string(s.declared), ",") {
				name, _, _ := strings.Cut(declared, " ")
				assert.Contains(t, sql, name, declared)
			}
			if n := strings.Count(string(s.declared), "@"); strings.Contains(sql, "@p0") || strings.Contains(sql, "@p"+string(rune('1'+n))) && n < 9 {
				t.Errorf("%s is declared for %s", s.declared, sql)
			}
			if strings.Contains(sql, "DELAYED_DURABILITY = ON") != lazy || strings.Contains(sql, "BEGIN TRANSACTION") != (lazy || len(ops) > 1) {
				t.Errorf("lazy %v: %s", lazy, sql)
			}
		}
	}
	s := session{steps: []mailbox.Step{{Op: mailbox.Delete}, {Op: mailbox.Replace}}}
	s.sort()
	s.write(true)
	const sql = "SET XACT_ABORT ON; BEGIN TRANSACTION; " +
		"UPDATE dbo.messages SET flags = @p4, crc = @p5, body = @p6 OUTPUT 0 WHERE mailbox_id = @p1 AND folder_id = @p2 AND message_id = @p3; " +
		"DELETE FROM dbo.messages OUTPUT 1 WHERE mailbox_id = @p7 AND folder_id = @p8 AND message_id = @p9; " +
		"COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);"
	const declared = "@p1 int,@p2 smallint,@p3 bigint,@p4 int,@p5 int,@p6 varbinary(7000),@p7 int,@p8 smallint,@p9 bigint"
	assert.True(t, string(s.sql) == sql && string(s.declared) == declared, "got\n%s\n%s", s.sql, s.declared)
	if n := testing.AllocsPerRun(100, func() { s.sort(); s.write(true) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
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
	server := tdstest.Start(t, tdstest.Options{Encryption: tdstest.EncryptNothing, Request: func([]byte) []byte {
		return tdstest.Answer(tdstest.Error(2627, 1, 14, "Violation of PRIMARY KEY constraint."), tdstest.Done(tdstest.DoneError))
	}})
	s, err := sqlserver.Open(server.URL("MAIL"))
	require.NoError(t, err)
	defer s.Close()
	session, err := Engine{}.Connect(t.Context(), s)
	require.NoError(t, err)
	defer session.Close(t.Context())
	err = session.Transact(t.Context(), []mailbox.Step{{Op: mailbox.Insert}}, false)
	if store.Classify(err) != store.Serialization || !strings.Contains(err.Error(), "insert: Violation of PRIMARY KEY") {
		t.Errorf("got %v of class %s", err, store.Classify(err))
	}
}

// TestDirect: of Babelfish nobody says that it keeps the system's cache out.
func TestDirect(t *testing.T) {
	if direct := (Engine{}).Direct(map[string]string{"server edition": "Developer Edition (64-bit)"}); direct == "" {
		t.Error("nothing is said of Microsoft's server")
	}
	if direct := (Engine{}).Direct(map[string]string{"server edition": "Babelfish for PostgreSQL"}); direct != "" {
		t.Errorf("of Babelfish it is said: %s", direct)
	}
}
