package replay

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/store"
)

// TestReadRecovery reads message 3421 as it was published: of 2008 on the page "Error 17053 may be logged after you run
// a DBCC command" (KB 926070), of 2010 on the page MSSQLSERVER_3414, of a preview of 2022 in microsoft/mssql-docker,
// issue 776.
func TestReadRecovery(t *testing.T) {
	at := func(text string) time.Time {
		parsed, err := time.Parse("2006-01-02 15:04:05.00", text)
		require.NoError(t, err)
		return parsed
	}
	line := func(when, text string) logLine {
		const more = " This is an informational message only. No user action is required."
		return logLine{at(when), sql.NullString{String: text + more}}
	}
	const completed = "Recovery completed for database "
	lines := []logLine{
		line("2022-08-14 17:37:27.89", "1 transactions rolled back in database 'master' (1:0)."),
		line("2022-08-14 17:37:27.93", "Recovery is writing a checkpoint in database 'master' (1)."),
		line("2022-08-14 17:37:28.29", completed+"master (database ID 1) in 2 second(s) (analysis 75 ms, redo 252 ms, "+
			"undo 73 ms [system undo 0 ms, regular undo 0 ms].) ADR-enabled=0, Is primary=1, OL-Enabled=0."),
		line("2010-03-31 19:17:18.45", completed+"mydb (database ID 13) in 2 second(s) "+
			"(analysis 204 ms, redo 25 ms, undo 1832 ms.)"),
		line("2008-05-21 13:03:45.67", "272 transactions rolled forward in database 'MYDATABASE' (12)."),
		line("2008-05-21 13:03:46.97", completed+"MYDATABASE (database ID 12) in 5 second(s) "+
			"(analysis 602 ms, redo 3954 ms, undo 105 ms.)"),
	}
	lines[3].text.String += "   "          // as that page has it
	again := func(when string) []logLine { // a snapshot of it, or what came before
		return append(lines, line(when, completed+"MYDATABASE (database ID 12) in 1 second(s) "+
			"(analysis 1 ms, redo 2 ms, undo 3 ms.)"))
	}
	is2008, begin := [3]float64{.602, 3.954, .105}, "2008-05-21 13:00:00.00"
	for _, c := range []struct {
		name, database, stood string
		lines                 []logLine
		seconds               [3]float64 // none: not found
	}{
		{"2008", "MYDATABASE", begin, lines, is2008},
		{"2010", "mydb", "2010-03-31 19:17:00.00", lines, [3]float64{.204, .025, 1.832}},
		{"2022", "master", "2022-08-14 17:37:00.00", lines, [3]float64{.075, .252, .073}},
		{"a snapshot's comes later", "MYDATABASE", begin, again("2008-05-21 13:36:48.37"), is2008},
		{"the start before the kill", "MYDATABASE", begin, again("2008-05-21 12:59:59.99"), is2008},
		{"an older log comes after the current one", "MYDATABASE", begin, again("2008-05-21 13:00:00.01"),
			[3]float64{.001, .002, .003}},
		{"nothing after the kill", "MYDATABASE", "2008-05-21 13:03:46.97", lines, [3]float64{}},
		{"another database", "MYDATA", begin, lines, [3]float64{}},
	} {
		stood := store.LogStand{From: "0000759c:0023696d:0049", Bytes: 500 << 20, At: at(c.stood)}
		r, found := readRecovery(c.lines, c.database, stood)
		require.Equal(t, c.seconds != [3]float64{}, found, c.name)
		if !found {
			continue
		}
		require.InDeltaSlice(t, c.seconds[:], []float64{*r.Analysis, r.Seconds, *r.Undo}, 1e-9, c.name)
		if r.Bytes != stood.Bytes || r.From != stood.From || r.To != "" {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}
