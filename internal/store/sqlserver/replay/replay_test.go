package replay

import (
	"math"
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
	const more = " This is an informational message only. No user action is required."
	lines := []logLine{
		{at("2022-08-14 17:37:27.89"), "1 transactions rolled back in database 'master' (1:0)." + more},
		{at("2022-08-14 17:37:27.93"), "Recovery is writing a checkpoint in database 'master' (1)." + more},
		{at("2022-08-14 17:37:28.29"), "Recovery completed for database master (database ID 1) in 2 second(s) (analysis 75 ms, redo 252 ms, undo 73 ms [system undo 0 ms, regular undo 0 ms].) ADR-enabled=0, Is primary=1, OL-Enabled=0." + more},
		{at("2010-03-31 19:17:18.45"), "Recovery completed for database mydb (database ID 13) in 2 second(s) (analysis 204 ms, redo 25 ms, undo 1832 ms.)" + more + "   "},
		{at("2008-05-21 13:03:45.67"), "272 transactions rolled forward in database 'MYDATABASE' (12)." + more},
		{at("2008-05-21 13:03:46.97"), "Recovery completed for database MYDATABASE (database ID 12) in 5 second(s) (analysis 602 ms, redo 3954 ms, undo 105 ms.)" + more},
	}
	again := func(when string) []logLine { // a snapshot of it, or what came before
		return append(lines, logLine{at(when), "Recovery completed for database MYDATABASE (database ID 12) in 1 second(s) (analysis 1 ms, redo 2 ms, undo 3 ms.)" + more})
	}
	for _, c := range []struct {
		name, database, stood string
		lines                 []logLine
		seconds               [3]float64 // none: not found
	}{
		{"2008", "MYDATABASE", "2008-05-21 13:00:00.00", lines, [3]float64{.602, 3.954, .105}},
		{"2010", "mydb", "2010-03-31 19:17:00.00", lines, [3]float64{.204, .025, 1.832}},
		{"2022", "master", "2022-08-14 17:37:00.00", lines, [3]float64{.075, .252, .073}},
		{"a snapshot's comes later", "MYDATABASE", "2008-05-21 13:00:00.00", again("2008-05-21 13:36:48.37"), [3]float64{.602, 3.954, .105}},
		{"the start before the kill", "MYDATABASE", "2008-05-21 13:00:00.00", again("2008-05-21 12:59:59.99"), [3]float64{.602, 3.954, .105}},
		{"an older log comes after the current one", "MYDATABASE", "2008-05-21 13:00:00.00", again("2008-05-21 13:00:00.01"), [3]float64{.001, .002, .003}},
		{"nothing after the kill", "MYDATABASE", "2008-05-21 13:03:46.97", lines, [3]float64{}},
		{"another database", "MYDATA", "2008-05-21 13:00:00.00", lines, [3]float64{}},
	} {
		stood := store.LogStand{From: "0000759c:0023696d:0049", Bytes: 500 << 20, At: at(c.stood)}
		r, found := readRecovery(c.lines, c.database, stood)
		if found != (c.seconds != [3]float64{}) {
			t.Errorf("%s: %+v, found %v", c.name, r, found)
			continue
		}
		if !found {
			continue
		}
		got := [3]float64{*r.Analysis, r.Seconds, *r.Undo}
		for i, want := range c.seconds {
			if math.Abs(got[i]-want) > 1e-9 {
				t.Errorf("%s: %v, want %v", c.name, got, c.seconds)
				break
			}
		}
		if r.Bytes != stood.Bytes || r.From != stood.From || r.To != "" {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}
