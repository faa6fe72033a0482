package sqlserver

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver/tdstest"
)

// cells is a row of texts, as an answer to a question: [MS-TDS] 2.2.7.4 and 2.2.7.17.
func cells(row ...string) []byte { return rowsOf(len(row), row...) }

// rowsOf are rows of so many texts each.
func rowsOf(columns int, all ...string) []byte {
	b := binary.LittleEndian.AppendUint16([]byte{0x81}, uint16(columns))
	for range columns {
		b = append(b, 0, 0, 0, 0, 0, 0, typeNVarChar, 0x40, 0x1F, 0, 0, 0, 0, 0, 0)
	}
	for i, text := range all {
		if i%columns == 0 {
			b = append(b, 0xD1)
		}
		units := utf16.Encode([]rune(text))
		b = binary.LittleEndian.AppendUint16(b, uint16(2*len(units)))
		for _, unit := range units {
			b = binary.LittleEndian.AppendUint16(b, unit)
		}
	}
	return tdstest.Answer(b, tdstest.Done(tdstest.DoneFinal))
}

// denied is the answer to who may not ask.
var denied = tdstest.Failed(tdstest.Error(300, 1, 14, "VIEW SERVER STATE permission was denied on object 'server', database 'master'."))

// answering is a server that answers what holds a piece of text, and denies what it does not know.
func answering(t *testing.T, answers map[string][]byte) *Store {
	server := tdstest.Start(t, tdstest.Options{Request: func(payload []byte) []byte {
		asked := tdstest.Text(payload)
		for piece, answer := range answers {
			if strings.Contains(asked, piece) {
				return answer
			}
		}
		return denied
	}})
	return openURL(t, server.URL("DS2"))
}

const askWhat, askRights = "InstanceDefaultDataPath", "@@MAX_CONNECTIONS"

// sqlServer2022 is what a server says of itself.
var sqlServer2022 = cells("2", "16", "0", "1", "/var/opt/mssql/data", "/var/opt/mssql/data")

// TestExamineWithoutRights: an owner of the database without VIEW SERVER STATE sees his own sessions alone, and not the
// log's space. No figure is made of that.
func TestExamineWithoutRights(t *testing.T) {
	s := answering(t, map[string][]byte{
		askWhat:                    sqlServer2022,
		askRights:                  cells("16.0.4100.1", "owner", "1", "1", "0", "32767", "1"),
		"sys.configurations":       cells("database recovery model", "FULL"),
		"database_recovery_status": cells("database log chain", "begun"),
	})
	e, err := s.Examine(t.Context(), 8)
	if err != nil {
		t.Fatal(err)
	}
	told := fmt.Sprint(e.Findings)
	for _, wrong := range []string{"1 in use", "32766 free", "0 MB"} {
		if strings.Contains(told, wrong) {
			t.Errorf("it says %q: %s", wrong, told)
		}
	}
	for _, right := range []string{"10 are needed: the server allows 32767", "owner may not see the server's state"} {
		if !strings.Contains(told, right) {
			t.Errorf("it does not say %q: %s", right, told)
		}
	}
}

// TestRefusedBeforeARun has a server deny what a run needs only at its beginning or end, and one that lacks it.
func TestRefusedBeforeARun(t *testing.T) {
	for says, answers := range map[string]map[string][]byte{
		"may not run DBCC": {askWhat: sqlServer2022, "ALTER SERVER STATE": cells("0"), "ESTIMATEONLY": tdstest.Answer(
			tdstest.Error(7983, 1, 14, "User 'reader' may not run DBCC checkdb for database 'DS2'."), tdstest.Done(tdstest.DoneError))},
		"has no DBCC": {askWhat: cells("2", "12", "1", "0", "", ""), "escape_hatch_fulltext": cells("1")},
	} {
		can := answering(t, answers).Can()
		for flag, may := range map[string]func(context.Context) error{"--verify deep": can.MayDeepCheck, "--cold-start": can.MayDropCache} {
			if err := may(t.Context()); store.Classify(err) != store.Config || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: got %v of class %s, want one that says %q", flag, err, store.Classify(err), says)
			}
		}
	}
	can := answering(t, map[string][]byte{askWhat: sqlServer2022, "ALTER SERVER STATE": cells("1"), "ESTIMATEONLY": cells("4", "12")}).Can()
	if err := errors.Join(can.MayDeepCheck(t.Context()), can.MayDropCache(t.Context())); err != nil {
		t.Error(err)
	}
}

// TestErrorLogInAnotherLanguage: I/O errors are searched by their English words, so that nothing found in another
// language says nothing.
func TestErrorLogInAnotherLanguage(t *testing.T) {
	none := tdstest.Done(tdstest.DoneFinal)
	for line, want := range map[string][]byte{"in English": cells("2026-11-23", "Server", "Server process ID is 36."), "not in English": none} {
		s := answering(t, map[string][]byte{askWhat: sqlServer2022, "GETDATE()": datetime, "Error: 823,": none, "Server process ID is": want})
		_, err := s.Can().IOFaults(t.Context())
		if line == "in English" && err != nil || line != "in English" && (err == nil || !strings.Contains(err.Error(), line)) {
			t.Errorf("a log %s: %v", line, err)
		}
	}
}

// datetime is the time 0 of the type that GETDATE has.
var datetime = tdstest.Answer([]byte{0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x3D, 0, 0xD1, 0, 0, 0, 0, 0, 0, 0, 0}, tdstest.Done(tdstest.DoneFinal))
