package report

import (
	"strings"
	"testing"

	"ds2/internal/measure"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

func TestFaultsAndOpenLoopAreTold(t *testing.T) {
	s := result.Summary{
		Asked: result.Asked{Words: orders, Parameters: result.Parameters{Rate: 500}},
		Happened: result.Happened{Counts: measure.Counts{Retries: 3, Reconnects: 2, GivenUp: 1},
			ByTarget: []result.Target{{Target: "a/ds2", OPM: 100}, {Target: "b/ds2", OPM: 200}}},
		Conclusion: result.Conclusion{Windows: []measure.Window{{Counts: measure.Counts{Offered: 1000, Orders: 990,
			Dropped: 7}}}},
	}
	s.Counts.Own[0], s.Counts.Names = 1, &[]string{"in_doubt_purchases"}
	var v view
	v.findRun(s)
	text := strings.Join(v.Notes(), "\n")
	texttest.Contains(t, text,
		"1,000 fell due", "990 were completed and 7 dropped", "retries 3, reconnects 2, orders given up 1",
		"purchases 1, new customers 0")
	if rows := targetTable(s).Rows; len(rows) != 2 || rows[1][0] != "b/ds2" || rows[1][1] != "200" {
		t.Errorf("targets %v", rows)
	}
}

func TestARunWithoutFaultsTellsNone(t *testing.T) {
	s := result.Summary{
		Happened:   result.Happened{ByTarget: []result.Target{{Target: "a/ds2"}}},
		Conclusion: result.Conclusion{Windows: []measure.Window{{}}},
	}
	if openLoopNote(s) != "" || faultNote(s) != "" || len(targetTable(s).Rows) != 0 {
		t.Errorf("told %q %q %v of a closed loop on one target without faults", openLoopNote(s), faultNote(s),
			targetTable(s).Rows)
	}
}
