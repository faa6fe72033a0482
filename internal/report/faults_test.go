package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
	rows := targetTable(s).Rows
	require.Len(t, rows, 2)
	assert.Equal(t, []string{"b/ds2", "200"}, rows[1][:2])
}

func TestARunWithoutFaultsTellsNone(t *testing.T) {
	s := result.Summary{
		Happened:   result.Happened{ByTarget: []result.Target{{Target: "a/ds2"}}},
		Conclusion: result.Conclusion{Windows: []measure.Window{{}}},
	}
	assert.Empty(t, openLoopNote(s), "of a closed loop")
	assert.Empty(t, faultNote(s), "of no faults")
	assert.Empty(t, targetTable(s).Rows, "of one target")
}
