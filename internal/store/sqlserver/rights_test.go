package sqlserver

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	"ds2/internal/tdstest"
	"ds2/schema"
)

// cells is a row of texts, as an answer to a question: [MS-TDS] 2.2.7.4 and 2.2.7.17.
func cells(row ...string) []byte {
	b := append(metadata(slices.Repeat([][]byte{nvarchar4000}, len(row))...), tokenRow)
	for _, text := range row {
		units := tdstest.UCS2(text)
		b = append(binary.LittleEndian.AppendUint16(b, uint16(len(units))), units...)
	}
	return tdstest.Answer(b, tdstest.Done(tdstest.DoneFinal))
}

// named is an answer of texts with the names of their columns.
func named(columns []string, rows ...[]string) []byte {
	b := binary.LittleEndian.AppendUint16([]byte{tokenColumns}, uint16(len(columns)))
	for _, name := range columns {
		b = append(append(b, make([]byte, 6)...), nvarchar4000...)
		b = append(append(b, byte(len(name))), tdstest.UCS2(name)...)
	}
	for _, row := range rows {
		b = append(b, tokenRow)
		for _, text := range row {
			units := tdstest.UCS2(text)
			b = append(binary.LittleEndian.AppendUint16(b, uint16(len(units))), units...)
		}
	}
	return tdstest.Answer(b, tdstest.Done(tdstest.DoneFinal))
}

// denied is the answer to who may not ask.
var denied = tdstest.Failed(
	tdstest.Error(
		300,
		1,
		14,
		"VIEW SERVER STATE permission was denied on object 'server', database 'master'.",
	),
)

// answering is a server that answers what holds a piece of text, and denies what it does not know.
func answering(t *testing.T, answers map[string][]byte) *Store {
	server := tdstest.Start(t, tdstest.Options{Request: func(payload []byte) []byte {
		for piece, answer := range answers {
			if strings.Contains(tdstest.Text(payload), piece) {
				return answer
			}
		}
		return denied
	}})
	return openURL(t, server.URL("DS2"))
}

const askWhat, askRights = "InstanceDefaultDataPath", "@@MAX_CONNECTIONS"

// These are what servers say of themselves.
var (
	sqlServer2022 = cells("2", "16", "0", "1", "/var/opt/mssql/data", "/var/opt/mssql/data", "0")
	onBabelfish   = cells("2", "12", "1", "0", "", "", "0")
)

// TestExamineWithoutRights: an owner of the database without VIEW SERVER STATE sees his own
// sessions alone, and not the log's space. No figure is made of that.
func TestExamineWithoutRights(t *testing.T) {
	s := answering(t, map[string][]byte{
		askWhat:                       sqlServer2022,
		askRights:                     cells("16.0.4100.1", "owner", "1", "1", "0", "32767", "1"),
		"'') FROM sys.configurations": cells("database recovery model", "FULL"),
		"database_recovery_status":    cells("database log chain", "begun"),
	})
	e, err := s.Examine(t.Context(), 8)
	require.NoError(t, err)
	told := fmt.Sprint(e.Findings)
	for _, wrong := range []string{"1 in use", "32766 free", "0 MB"} {
		assert.NotContains(t, told, wrong)
	}
	for _, right := range []string{"11 are needed: the server allows 32767", "owner may not see the server's state"} {
		assert.Contains(t, told, right)
	}
}

// TestConnections: the limit is that of 'user connections' or, in Azure SQL Database, of the
// service objective; who may see all sessions is told how many are free.
func TestConnections(t *testing.T) {
	for want, objective := range map[string][]byte{
		"11 needed, 93 free": denied, "11 needed, 3 free": cells("10"),
	} {
		s := answering(t, map[string][]byte{
			askWhat:                          sqlServer2022,
			"'user connections'":             cells("16.0.4100.1", "owner", "1", "1", "1", "100", "7"),
			"dm_user_db_resource_governance": objective,
		})
		e, err := s.Examine(t.Context(), 8)
		require.NoError(t, err)
		assert.Contains(t, fmt.Sprint(e.Findings), want)
	}
}

// TestRefusedBeforeARun has a server deny what a run needs only at its beginning or end.
func TestRefusedBeforeARun(t *testing.T) {
	mayNot := tdstest.Failed(
		tdstest.Error(7983, 1, 14, "User 'reader' may not run DBCC checkdb for database 'DS2'."))
	can := answering(t, map[string][]byte{
		askWhat: sqlServer2022, "ALTER SERVER STATE": cells("0"), "ESTIMATEONLY": mayNot,
	})
	for _, may := range []func(context.Context) error{can.MayDeepCheck, can.MayDropCache} {
		err := may(t.Context())
		assert.ErrorContains(t, err, "may not run DBCC")
		assert.Equal(t, store.Config, store.Classify(err))
	}
	can = answering(t, map[string][]byte{
		askWhat: sqlServer2022, "ALTER SERVER STATE": cells("1"), "ESTIMATEONLY": cells("4", "12"),
	})
	assert.NoError(t, errors.Join(can.MayDeepCheck(t.Context()), can.MayDropCache(t.Context())))

	// Who may empty the cache differs between servers.
	for right, server := range map[string][]byte{
		"'ALTER SERVER STATE'":       sqlServer2022,
		"'sysadmin'":                 cells("3", "15", "0", "1", "", "", "0"),
		"'##MS_ServerStateManager##": cells("5", "12", "0", "1", "", "", "0"),
	} {
		can := answering(t, map[string][]byte{askWhat: server, right: cells("1")})
		assert.NoError(t, can.MayDropCache(t.Context()), right)
	}
}

// TestAmazonRDS: it sets the recovery model back and backs up on its own, so that a load leaves
// the model alone, and there is no snapshot.
func TestAmazonRDS(t *testing.T) {
	s := answering(t, map[string][]byte{
		askWhat:          cells("2", "16", "0", "1", `D:\data`, `D:\data`, "1"),
		"sys.filegroups": named([]string{"n"}, []string{"1"}),
	})
	p := schema.Params{Layout: schema.Layout{Uses: schema.Features{Recovery: true}}}
	leftOut, err := s.Adapt(t.Context(), &p)
	require.NoError(t, err)
	assert.True(t, p.Layout.Lacks.Recovery)
	assert.Contains(t, fmt.Sprint(leftOut), "Amazon RDS sets the recovery model back")
	err = s.CreateSnapshot(t.Context(), store.Copying{})
	assert.ErrorContains(t, err, "Amazon RDS backs up to its own storage only")
}

// TestRefusedOnBabelfish: what Babelfish lacks is refused in one sentence, which says what it lacks
// and which flag to leave out.
func TestRefusedOnBabelfish(t *testing.T) {
	missing := tdstest.Failed(
		tdstest.Error(babelfishUnmapped, 1, 16, `relation "ds2_info" does not exist`),
	)
	s := answering(
		t,
		map[string][]byte{askWhat: onBabelfish, "escape_hatch": cells("1"), "ds2_info": missing},
	)
	ctx := t.Context()
	for flag, f := range map[string]func() error{
		"--deep":        func() error { _, err := s.DeepCheck(ctx, nil); return err },
		"--verify deep": func() error { return s.MayDeepCheck(ctx) },
		"--cold-start":  func() error { return s.MayDropCache(ctx) },
		"--discard-log": func() error { return s.DiscardLog(ctx) },
	} {
		err := f()
		assert.Equal(t, store.Config, store.Classify(err), flag)
		assert.ErrorContains(t, err, "this server", flag)
		assert.ErrorContains(t, err, flag)
		assert.NotContains(t, err.Error(), "\n", flag)
	}
}

// TestErrorLogInAnotherLanguage: I/O errors are searched by their English words, so that nothing
// found in another language says nothing.
func TestErrorLogInAnotherLanguage(t *testing.T) {
	for why, c := range map[string]struct {
		log, pages []byte
		unseen     string
		found      []string
	}{
		"both": {english, cells("page 7"), "", []string{"a line", "a line", "page 7"}},
		"another language": {
			tdstest.Done(tdstest.DoneFinal), cells("page 7"), "not in English", []string{"page 7"},
		},
		"no right to the log": {denied, cells("page 7"), "error log: VIEW", []string{"page 7"}},
		"no right to msdb":    {english, denied, "suspect_pages", []string{"a line", "a line"}},
		"neither":             {denied, denied, "suspect_pages", nil},
	} {
		since, unseen := answering(t, map[string][]byte{
			askWhat: sqlServer2022,
			"GETDATE()": tdstest.Answer(metadata([]byte{0x3D}),
				append([]byte{tokenRow}, make([]byte, 8)...), tdstest.Done(tdstest.DoneFinal)),
			"LogWriter: Operating system error": cells("a line"),
			"suspect_pages":                     c.pages,
			"Server process ID is":              c.log,
		}).IOFaults(t.Context())
		if c.unseen == "" {
			assert.NoError(t, unseen, why)
		} else {
			assert.ErrorContains(t, unseen, c.unseen, why)
		}
		if c.found == nil {
			assert.Nil(t, since, why)
			continue
		}
		found, err := since(t.Context())
		assert.NoError(t, err, why)
		assert.Equal(t, c.found, found, why)
	}
}

// english is the line that an error log begins with.
var english = cells("2026-11-23", "Server", "Server process ID is 36.")

// TestGhostsAreCounted: a reset ends when the server counts no deleted rows, or where its user may
// not ask. An answer that is none is an error.
func TestGhostsAreCounted(t *testing.T) {
	broken := tdstest.Failed(
		tdstest.Error(
			8115,
			2,
			16,
			"Arithmetic overflow error converting expression to data type int.",
		),
	)
	for name, answer := range map[string][]byte{"none": cells("0"), "who may not ask": denied, "no count": broken} {
		s := answering(
			t,
			map[string][]byte{askWhat: sqlServer2022, "sys.dm_db_index_physical_stats": answer},
		)
		err := s.awaitGhostCleanup(t.Context())
		require.Equal(t, name == "no count", err != nil, "%s: %v", name, err)
	}
	for setting, stay := range map[string]bool{
		"recovery model": false, "read committed snapshot": true, "accelerated recovery": true,
	} {
		on := cells("database "+setting, "1")
		s := answering(
			t,
			map[string][]byte{askWhat: sqlServer2022, "'') FROM sys.configurations": on},
		)
		assert.Equal(t, stay, s.judgeGhosts(t.Context(), 3) == nil, setting)
	}
	assert.Contains(t, query("database/ghost-records"), "= SCHEMA_NAME()", "others' tables may have some")
}

// TestFullTextProgress: rows are counted by the server's own count, not by reading the table each
// second.
func TestFullTextProgress(t *testing.T) {
	s := answering(t, map[string][]byte{"FROM sys.partitions": cells("0.25")})
	s.filling.Store(&schema.Statement{Name: "fill", Table: "products"})
	got, err := s.Progress(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string]float64{"fill": .25}, got)
}
