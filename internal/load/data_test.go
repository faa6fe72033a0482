package load

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store/sqlserver"
	"ds2/schema"
)

// TestServerReadsEachPartsOwnFile has a SQL Server without connections: a load on which another has
// done two files continues with the rest, each by the statement that names its file and its table,
// and the files of a table one after the other.
func TestServerReadsEachPartsOwnFile(t *testing.T) {
	s := pgtest.Open(t, sqlserver.Open, "sqlserver://localhost")
	data, err := datagen.New(datagen.S, datagen.DefaultWords(), datagen.Options{})
	require.NoError(t, err)
	l := &loader{
		engine: s,
		parts:  data.Parts(),
		report: newReport(data.Parts()),
		done: map[string]int64{
			"us_cust.csv part 1 of 1":    10_000,
			"feb_orders.csv part 1 of 1": 1_000,
		},
	}
	for _, p := range l.parts {
		file := schema.ServerFile{Name: p.File, Table: string(p.Table), Rows: p.Rows}
		l.params.Layout.Files = append(l.params.Layout.Files, file)
	}
	l.course = newCourse(NoProgress{}, l.parts, nil)
	files, err := schema.Statements(s.Engine(), schema.Data, l.params)
	require.NoError(t, err)
	l.phases = map[schema.Phase][]schema.Statement{schema.Data: files}
	statements := map[string]string{}
	for _, s := range files {
		statements[s.Name] = s.SQL
	}
	lanes, err := l.planLanes()
	require.NoError(t, err)
	read := 0
	for _, lane := range lanes {
		for _, c := range lane {
			part := c.Parts[0]
			read++
			sql := statements[part.File]
			assert.Contains(
				t,
				sql,
				"BULK INSERT "+strings.ToUpper(string(part.Table))+"\n",
				part.File,
			)
			assert.Contains(t, sql, "/"+part.File+"'")
			assert.Equal(
				t,
				lane[0].Table,
				c.Table,
				"%s and %s are in one lane",
				lane[0].Parts[0].File,
				part.File,
			)
		}
	}
	assert.Equal(t, len(l.parts)-len(l.done), read, "files")
	assert.Len(t, lanes, len(datagen.Tables))
}
