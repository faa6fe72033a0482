package load

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/store/sqlserver"
	"ds2/internal/workload/ds2"
	"ds2/schema"
)

// TestServerReadsEachPartsOwnFile has a SQL Server that nobody connects to: a load on which another has done two files
// continues with the rest, each by the statement that names its file and its table, and the files of a table one after
// the other.
func TestServerReadsEachPartsOwnFile(t *testing.T) {
	s, err := sqlserver.Open(&url.URL{Scheme: "sqlserver", Host: "localhost"})
	require.NoError(t, err)
	defer s.Close()
	data, err := datagen.New(datagen.S, datagen.DefaultWords(), datagen.Options{})
	require.NoError(t, err)
	l := &loader{
		engine: s.(*sqlserver.Store), options: Options{Dataset: ds2.Dataset{Size: datagen.S, Rows: data.Parts()}}, parts: data.Parts(), report: newReport(data.Parts()),
		done: map[string]int64{"us_cust.csv part 1 of 1": 10_000, "feb_orders.csv part 1 of 1": 1_000},
	}
	for _, p := range l.parts {
		l.params.Layout.Files = append(l.params.Layout.Files, schema.ServerFile{Name: p.File, Table: string(p.Table), Rows: p.Rows})
	}
	l.course = newCourse(NoProgress{}, l.parts, nil)
	require.NoError(t, l.prepare(schema.Data))
	statements := map[string]string{}
	for _, s := range l.phases[schema.Data] {
		statements[s.Name] = s.SQL
	}
	lanes, err := l.lanes()
	require.NoError(t, err)
	read := 0
	for _, lane := range lanes {
		for _, c := range lane {
			part := c.parts[0]
			read++
			sql := statements[part.File]
			if !strings.Contains(sql, "BULK INSERT "+strings.ToUpper(string(part.Table))+"\n") || !strings.Contains(sql, "/"+part.File+"'") {
				t.Errorf("%s is read by\n%s", part.File, sql)
			}
			if c.table != lane[0].table {
				t.Errorf("%s and %s are in one lane", lane[0].parts[0].File, part.File)
			}
		}
	}
	if want := len(l.parts) - len(l.done); read != want || len(lanes) != len(datagen.Tables) {
		t.Errorf("%d files in %d lanes, want %d in %d", read, len(lanes), want, len(datagen.Tables))
	}
}
