package sqlserver

import (
	"flag"
	"os"
	"strings"
	"testing"

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
			var s session
			s.write(steps, lazy)
			sql := string(s.sql)
			script.WriteString(sql + "\nGO\n")
			for declared := range strings.SplitSeq(string(s.declared), ",") {
				name, _, _ := strings.Cut(declared, " ")
				if !strings.Contains(sql, name) {
					t.Errorf("%s is not in %s", declared, sql)
				}
			}
			if n := strings.Count(string(s.declared), "@"); strings.Contains(sql, "@p0") || strings.Contains(sql, "@p"+string(rune('1'+n))) && n < 9 {
				t.Errorf("%s is declared for %s", s.declared, sql)
			}
			if strings.Contains(sql, "DELAYED_DURABILITY = ON") != lazy || strings.Contains(sql, "BEGIN TRANSACTION") != (lazy || len(ops) > 1) {
				t.Errorf("lazy %v: %s", lazy, sql)
			}
		}
	}
	var s session
	s.write([]mailbox.Step{{Op: mailbox.Delete}, {Op: mailbox.Replace}}, true)
	const sql = "SET XACT_ABORT ON; BEGIN TRANSACTION; " +
		"DELETE FROM dbo.messages OUTPUT 0 WHERE mailbox_id = @p1 AND folder_id = @p2 AND message_id = @p3; " +
		"UPDATE dbo.messages SET flags = @p7, crc = @p8, body = @p9 OUTPUT 1 WHERE mailbox_id = @p4 AND folder_id = @p5 AND message_id = @p6; " +
		"COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON);"
	const declared = "@p1 int,@p2 smallint,@p3 bigint,@p4 int,@p5 smallint,@p6 bigint,@p7 int,@p8 int,@p9 varbinary(7000)"
	if string(s.sql) != sql || string(s.declared) != declared {
		t.Errorf("got\n%s\n%s", s.sql, s.declared)
	}
	if n := testing.AllocsPerRun(100, func() { s.write([]mailbox.Step{{Op: mailbox.Delete}, {Op: mailbox.Replace}}, true) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if *statementsFile != "" {
		if err := os.WriteFile(*statementsFile, []byte(script.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDuplicate: an insert whose first try was committed after it was looked for is tried again.
func TestDuplicate(t *testing.T) {
	server := tdstest.Start(t, tdstest.Options{Encryption: tdstest.EncryptNothing, Request: func([]byte) []byte {
		return tdstest.Answer(tdstest.Error(2627, 1, 14, "Violation of PRIMARY KEY constraint."), tdstest.Done(tdstest.DoneError))
	}})
	s, err := sqlserver.Open(server.URL("MAIL"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	session, err := Engine{}.Connect(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(t.Context())
	err = session.Transact(t.Context(), []mailbox.Step{{Op: mailbox.Insert}}, false)
	if store.Classify(err) != store.Serialization || !strings.Contains(err.Error(), "insert: Violation of PRIMARY KEY") {
		t.Errorf("got %v of class %s", err, store.Classify(err))
	}
}
