package main

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/measure"
	"ds2/internal/promtest"
)

// The lines of DS2's own driver, as scripts parse them.
var (
	ds2Line = lineForm("et=*et n_overall=#n_overall opm=#opm rt_tot_lastn_max_msec=#lastn_max rt_tot_avg_msec=#avg " +
		"rt_tot_sampled=#sampled rollbacks: n=#rollbacks %=*percent")
	ds2TargetLine = lineForm(`  target (?P<target>\S+): n_overall=#n_overall opm=#opm rt_tot_avg_msec=#avg ` +
		"rollbacks: n=#rollbacks %=*percent")
	ds2Final = lineForm(`Final \((?P<time>[^)]+)\): et=*et n_overall=#n_overall opm=#opm rt_tot_lastn_max=#lastn_max ` +
		"rt_tot_avg=#avg n_login_overall=#n_login n_newcust_overall=#n_newcust n_browse_overall=#n_browse " +
		"n_purchase_overall=#n_purchase rt_login_avg_msec=#login rt_newcust_avg_msec=#newcust " +
		"rt_browse_avg_msec=#browse rt_purchase_avg_msec=#purchase rt_tot_sampled=#sampled " +
		"n_rollbacks_overall=#rollbacks rollback_rate =*percent%")
)

// lineForm is a line with whole numbers where #name stands, and with decimal ones in blanks where *name stands.
func lineForm(text string) *regexp.Regexp {
	text = regexp.MustCompile(`#(\w+)`).ReplaceAllString(text, `(?P<$1>\d+)`)
	text = regexp.MustCompile(`=\*(\w+)`).ReplaceAllString(text, `= *(?P<$1>\d+\.\d)`)
	return regexp.MustCompile("^" + text + "$")
}

// fields are the numbers in a line; nil where it is not of the form.
func fields(form *regexp.Regexp, line string) map[string]float64 {
	match := form.FindStringSubmatch(line)
	if match == nil {
		return nil
	}
	numbers := map[string]float64{}
	for i, name := range form.SubexpNames() {
		if n, err := strconv.ParseFloat(match[i], 64); err == nil {
			numbers[name] = n
		}
	}
	return numbers
}

// TestDS2LinesAsPublished are WORKLOAD.md section 5's examples: what parses them parses ours.
func TestDS2LinesAsPublished(t *testing.T) {
	line := fields(ds2Line, "et=   10.1 n_overall=23 opm=136 rt_tot_lastn_max_msec=867 rt_tot_avg_msec=182 "+
		"rt_tot_sampled=182 rollbacks: n=0 %=  0.0")
	final := fields(ds2Final, "Final (…): et=   61.0 n_overall=150 opm=147 rt_tot_lastn_max=1205 rt_tot_avg=137 "+
		"n_login_overall=121 n_newcust_overall=29 n_browse_overall=403 n_purchase_overall=150 rt_login_avg_msec=33 "+
		"rt_newcust_avg_msec=21 rt_browse_avg_msec=9 rt_purchase_avg_msec=80 rt_tot_sampled=137 "+
		"n_rollbacks_overall=5 rollback_rate =   3.3%")
	assert.True(t, line["opm"] == 136 && final["opm"] == 147 && final["percent"] == 3.3, "%v and %v", line, final)
}

// TestDS2LinesSinceReset has fewer orders in the warm-up than in the run after it, until the next line.
func TestDS2LinesSinceReset(t *testing.T) {
	m := measure.NewMeter(make([]string, 5), []string{"a"}, "rollbacks", "new_customers")
	r := m.NewRecorder(0)
	record := func(n int, took time.Duration) {
		for range n {
			var o measure.Order
			o.Complete(0, took, took)
			r.Record(&o)
		}
	}
	l := &ds2Lines{meter: m}
	var out strings.Builder
	m.Enter(measure.PhaseWarmup)
	record(7, 8*time.Millisecond)
	m.Sample(time.Second, make([]measure.Users, 1))
	l.print(&out)
	m.Enter(measure.PhaseRun)
	record(9, 2*time.Millisecond)
	m.Sample(2*time.Second, make([]measure.Users, 1))
	l.print(&out)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i, want := range []float64{8, 2} {
		assert.Equal(t, want, fields(ds2Line, lines[i])["sampled"], "rt_tot_sampled of %s", lines[i])
	}
}

// TestDS2LinesOfAnotherWorkload refuses DS2's lines where no orders are made, before anything runs.
func TestDS2LinesOfAnotherWorkload(t *testing.T) {
	t.Parallel()
	target := pgtest.Database(t)
	must(t, words("load --target %s --workload mailbox --mailboxes 10 --mailbox-size 1MB --quiet", target)...)
	dir := filepath.Join(t.TempDir(), "record")
	stdout, stderr := ends(t, exitUsage, quick("drive", target, "-o ds2 --run-time 1s --out %s", dir)...)
	assert.Contains(t, stderr, "--output ds2")
	assert.Empty(t, stdout)
	assert.NoDirExists(t, dir)
	fails(t, exitUsage, "--output ds2", "demo", "--workload", "mailbox", "-o", "ds2")
}

// TestDS2Output drives two targets, shown as DS2 shows a run, with the figures of each and all of them pushed to a
// Pushgateway.
func TestDS2Output(t *testing.T) {
	t.Parallel()
	gateway := promtest.StartPushgateway(t)
	targets := []string{pgtest.Database(t), pgtest.Database(t)}
	must(t, "load", "--target", strings.Join(targets, ";"), "--size", "1MB", "--quiet")
	dir := filepath.Join(t.TempDir(), "record")
	stdout := must(t, words("drive --target %s --n_threads=2 --ramp_rate=100 --warmup_time=0 --run_time=16s --seed 1 "+
		"--detailed_view=Y --output ds2 --metrics-addr '' --pushgateway %s --run-id pushed --out %s",
		strings.Join(targets, ";"), gateway, dir)...)
	record := recordOf(t, dir)

	var lines, ofTargets, finals []map[string]float64
	var named []string
	for line := range strings.Lines(stdout) {
		line = strings.TrimRight(line, "\n")
		switch {
		case fields(ds2Line, line) != nil:
			lines = append(lines, fields(ds2Line, line))
		case fields(ds2TargetLine, line) != nil:
			ofTargets = append(ofTargets, fields(ds2TargetLine, line))
			named = append(named, ds2TargetLine.FindStringSubmatch(line)[1])
		case fields(ds2Final, line) != nil:
			finals = append(finals, fields(ds2Final, line))
		default:
			t.Errorf("not a line of DS2's: %q", line)
		}
	}
	require.NotEmpty(t, lines, stdout) // a busy machine may come to a second line
	require.Len(t, finals, 1, stdout)
	require.Equal(t, slices.Repeat(record.Targets, len(lines)), named, stdout)
	line, final := lines[0], finals[0]
	for _, l := range []map[string]float64{line, final} {
		low, high := 60*l["n_overall"]/(l["et"]+0.05)-1, 60*l["n_overall"]/(l["et"]-0.05)+1
		assert.True(t, low <= l["opm"] && l["opm"] <= high,
			"opm=%v is not 60 × %v / %v s", l["opm"], l["n_overall"], l["et"])
		assert.InDelta(t, 100*l["rollbacks"]/l["n_overall"], l["percent"], 0.05, "line %v", l)
		assert.NotEqualValues(t, 0, l["n_overall"], "line %v", l)
	}
	assert.Equal(t, line["n_overall"], ofTargets[0]["n_overall"]+ofTargets[1]["n_overall"], "the targets made")
	assert.GreaterOrEqual(t, final["et"], 15.5)
	assert.GreaterOrEqual(t, final["n_overall"], line["n_overall"])
	assert.LessOrEqual(t, final["n_overall"], float64(record.Counts.Orders))
	// An order is a login or a new customer, one browse or more, and a purchase. Those under way at the reset are half
	// counted.
	const users = 4
	assert.InDelta(t, final["n_overall"], final["n_login"]+final["n_newcust"], users, "entries of %v", final)
	assert.InDelta(t, final["n_overall"], final["n_purchase"], users, "purchases of %v", final)
	share, sigma := final["n_newcust"]/final["n_overall"], math.Sqrt(.2*.8/final["n_overall"])
	assert.InDelta(t, .2, share, 4*sigma, "the end %v: want a fifth of new customers", final)
	assert.GreaterOrEqual(t, final["n_browse"], final["n_overall"])
	sum := final["login"]*(1-0.2) + final["newcust"]*0.2 + final["browse"] + final["purchase"]
	assert.LessOrEqual(t, sum, 3*final["avg"]+10, "the parts of an order take longer than all of it")

	response, err := http.Get(gateway + "/metrics")
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	for i, target := range record.Targets {
		assert.Contains(t, string(text), fmt.Sprintf(
			"ds2_orders_total{instance=\"\",job=\"ds2\",run=\"pushed\",target=%q} %d\n",
			target, record.ByTarget[i].Counts.Orders))
	}
}
