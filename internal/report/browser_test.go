package report

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/browsertest"
	"ds2/internal/compare"
	"ds2/internal/diagnose"
	"ds2/internal/nightly"
	"ds2/internal/result"
	"ds2/internal/sampling"
)

// arraysOf is an experiment on two arrays in five blocks, with their power and what their devices
// can do; the second has a multiple of the orders of the first, give or take the variation, and
// every run grows by a share while it is measured.
func arraysOf(t *testing.T, ratio, growth float64) compare.Experiment {
	t.Helper()
	e := compare.Experiment{Name: "arrays", Experiment: result.Experiment{
		ExperimentID: "k7c2", KitVersion: "test",
		Status: result.Done, Order: result.OrderRandom, Most: 5, Seed: 1,
		Start: time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC),
	}}
	for i, c := range []result.Configuration{
		{Name: "hdd", Labels: map[string]string{"drives": "24 disks", "raid": "RAID 10"}},
		{Name: "ssd", Labels: map[string]string{"drives": "6 SSDs", "raid": "RAID 5"}},
	} {
		speed := []float64{1, ratio}[i]
		reads := 600 * []float64{1, ratio}[i]
		watts := []float64{410, 180}[i]
		one := compare.Configuration{Name: c.Name, Dir: t.TempDir()}
		one.Labels = c.Labels["drives"] + ", " + c.Labels["raid"]
		one.Bench = result.Bench{
			Experiment: "k7c2", Status: result.Done,
			Spec: result.Spec{Words: orders, Engine: "postgres", Size: "W", Threads: 32, Runs: 5},
		}
		fio := &result.Device{Log: result.DevicePoint{IOPS: 5000, Mean: .0002}}
		for _, depth := range []float64{1, 2, 4, 8, 16, 32, 64, 128, 256} {
			rate := min(reads*1.02, depth*170)
			p := result.DevicePoint{Depth: int(depth), IOPS: rate, Mean: max(depth/rate, .004)}
			fio.Reads = append(fio.Reads, p)
		}
		for block := 1; block <= 5; block++ {
			dir := fmt.Sprintf("run-%d", block)
			factor := 1 + .02*math.Sin(float64(3*block+7*i))
			r := recordAt(
				t,
				filepath.Join(one.Dir, dir),
				speed*factor,
				growth,
				func(s *result.Summary) {
					s.Device = fio
					s.Power = &result.Power{Active: new(watts + float64(block))}
					s.Figure.PerWatt = new(s.Figure.Value / *s.Power.Active)
					s.Costs = &result.Costs{
						Reads: new(5.5 / factor), Writes: new(2.),
						Joules: new(60 * *s.Power.Active / s.Figure.Value),
					}
					s.Bottleneck = &result.Bottleneck{What: diagnose.Storage}
					s.Conditions = []result.Condition{
						{
							Name: result.ReadsOfDevices, Value: reads * factor,
							Unit: "a second",
						},
						{Name: result.LimitOfReads, Value: fio.MaxReads(), Unit: "a second"},
						{Name: result.ReadLatency, Value: 1000 * 30 / reads / factor, Unit: "ms"},
					}
				},
			)
			run := result.BenchRun{
				Dir:    dir,
				Block:  block,
				Number: 2*block + (i+block)%2,
				Status: result.Done,
			}
			compare.Take(&run, r.Summary)
			one.Runs = append(one.Runs, run)
		}
		compare.Runs(&one.Bench)
		e.Benches, e.Configurations = append(e.Benches, one), append(e.Configurations, c)
	}
	e.Comparison = compare.WithFirst(e.Benches)
	return e
}

// publishedArrays compares the arrays of the storage report by its figures (WORKLOAD.md, published
// results).
func publishedArrays(t *testing.T) compare.Comparison {
	t.Helper()
	configurations := make([]compare.Configuration, 2)
	for i, c := range []struct {
		name         string
		idle, active float64
		opm          []float64
	}{
		{"24 hard disks", 682, 776.9, []float64{48172, 46586.3, 48142}},
		{"6 SSDs", 393.1, 501.4, []float64{64973.7, 67356.7, 64203}},
	} {
		b := result.Bench{
			Head: result.Head{Kind: result.KindBench}, Status: result.Done,
			Spec: result.Spec{Words: orders, Runs: len(c.opm)},
		}
		for run, opm := range c.opm {
			headline := result.NewHeadline(&result.Figure{Unit: result.OPM, Value: opm})
			b.Runs = append(b.Runs, result.BenchRun{
				Dir: fmt.Sprintf("run-%d", run+1), Status: result.Done,
				Counts: true, Headline: headline,
			})
		}
		compare.Runs(&b)
		for run := range b.Runs { // the report has the power of the median run alone
			if one := &b.Runs[run]; one.Dir == b.Median {
				one.Idle, one.Active, one.Figure.PerWatt = &c.idle, &c.active, new(
					one.Figure.Value/c.active,
				)
			}
		}
		compare.Runs(&b)
		configurations[i] = compare.Configuration{Name: c.name, Bench: b}
	}
	return compare.WithFirst(configurations)
}

// TestBrowser opens the pages in a headless Chromium: they draw their charts, in light and in dark,
// complain of nothing and ask the network for nothing. DS2_TEST_ARTIFACTS keeps pictures of their
// first screens.
func TestBrowser(t *testing.T) {
	nightly.Long(t, "opens all pages in a browser; TestRunsInBrowser starts one, too")
	r := record(t, func(s *result.Summary) {
		s.Bottleneck = &result.Bottleneck{}
		s.Bottleneck.What = diagnose.Storage
		s.Bottleneck.Why = "sessions spend 83 % of their time waiting for reads and writes of data and log"
		s.Conditions = []result.Condition{
			{Name: result.ReadsOfDevices, Value: 598},
			{Name: result.ReadLatency, Value: 12.4},
			{Name: result.LogWriteLatency, Value: .61},
		}
	})
	r.Host.Columns = []string{
		"disk.nvme0n1.reads_per_second", "disk.nvme0n1.writes_per_second",
		"disk.sda.reads_per_second", "disk.sda.writes_per_second",
		"db.cache_hit_ratio", "client.resident_bytes", "db.temporary_bytes_per_second",
	}
	for second := 1; second <= 70; second++ {
		x := float64(second)
		r.Host.Rows = append(r.Host.Rows, sampling.Row{
			Time: r.Start.Add(time.Duration(second) * time.Second),
			Values: []float64{
				400 + x,
				300 - x,
				40 + x/7,
				90 + 10*math.Sin(x/9),
				.984 + .003*math.Sin(x/9),
				2e7,
				0,
			},
		})
	}
	r.Checkpoints = []sampling.Checkpoint{{From: 22, To: 30}, {From: 52, To: 60}}
	mailbox := record(t, func(s *result.Summary) {
		s.Workload = "mailbox"
		s.Words = result.Words{
			Cycle:  "transaction",
			Cycles: "transactions",
			Rate:   "TPM",
			Unit:   result.IOPS,
		}
		iops := result.Figure{Unit: result.IOPS, Value: 812.4, CI95: new(9.1), PerWatt: new(2.03)}
		s.Headline = result.NewHeadline(&iops)
		s.Size = "500 mailboxes of 250 MB"
		s.Power = &result.Power{Active: new(400.)}
		s.Conditions = []result.Condition{
			{Name: result.ReadsOfDevices, Value: 498},
			{Name: result.ReadLatency, Value: 11.2},
			{Name: result.LogWriteLatency, Value: .8},
		}
		s.Limits = result.Verdicts{{
			Limit: "data read mean < 20ms", Unit: result.UnitSeconds, Bound: .02,
			Measured: new(.0112), OK: true,
		}}
		s.Sections = []result.Section{{
			Title: "Database sizing and throughput",
			Notes: []string{"It is no Jetstress or ESRP result."}, Head: []string{"what", "value"},
			Rows: [][]string{{"achieved transactional I/O per second", "812.4"}}, Words: true,
		}}
	})
	arrays := arraysOf(t, 2.5, 0)
	type page struct {
		name, html string
		charts     int
	}
	pages := []page{
		{
			"experiment",
			written(t, Experiment(arrays)),
			3 + 1 + 1 + 3,
		}, // bars, the devices, small bars
		{"bench", written(t, Bench(arrays.Benches[1])), 8 + 5},
		{"run", written(t, Runs(r, record(t, func(s *result.Summary) {
			eventful(s)
			s.RunID = "m3x8"
		}))), 4 + 3 + 4},
		{"mailbox", written(t, Runs(mailbox)), 4},
		{"tune", written(t, Search(search())), 3},
	}
	if os.Getenv("DS2_TEST_ARTIFACTS") != "" {
		published := written(t, Comparison(publishedArrays(t)))
		pages = append(
			pages,
			page{"same", written(t, Experiment(arraysOf(t, 1, 0))), pages[0].charts},
			page{"cold", written(t, Experiment(arraysOf(t, 4.4, .6))), pages[0].charts},
			page{"published", published, strings.Count(published, `class="plot"`)},
		)
	}
	dir := t.TempDir()
	browser := browsertest.Start(t, "file://"+dir)
	for _, page := range pages {
		path := filepath.Join(dir, page.name+".html")
		require.NoError(t, os.WriteFile(path, []byte(page.html), 0o644))
		keep := func(kind string) chromedp.Action {
			return browsertest.Keep(page.name+kind+".png", false)
		}
		var grounds [2]string
		var charts, drawn, described, closed int
		var overflow int // pixels that the page is wider than a phone
		const background = `getComputedStyle(document.body).backgroundColor`
		const plots = `[...document.querySelectorAll('.plot')]`
		// By the button of each part that has several sections; how many stay closed.
		const openAll = `[...document.querySelectorAll('.rest')].map(rest => {
			const sections = [...rest.querySelectorAll(':scope > details')];
			if (sections.length > 1) rest.querySelector(':scope > button').click();
			return sections.filter(d => sections.length > 1 && !d.open).length;
		}).reduce((a, b) => a + b, 0)`
		wide := chromedp.EmulateViewport(1280, 900)
		phone := chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile)
		err := chromedp.Run(
			browser,
			browsertest.Colours("light"),
			wide,
			chromedp.Navigate("file://"+path),
			chromedp.Evaluate(background, &grounds[0]),
			keep(""),
			phone,
			chromedp.Evaluate(`document.documentElement.scrollWidth - innerWidth`, &overflow),
			keep("-phone"),
			browsertest.Colours("dark"),
			browsertest.Drawn(),
			keep("-phone-dark"),
			wide,
			chromedp.Evaluate(background, &grounds[1]),
			keep("-dark"),
			browsertest.Colours("light"),
			chromedp.Evaluate(openAll, &closed),
			chromedp.Evaluate(
				`document.querySelectorAll('details').forEach(d => { d.open = true; })`,
				nil,
			),
			browsertest.Drawn(),
			chromedp.Evaluate(plots+`.length`, &charts),
			chromedp.Evaluate(
				plots+`.filter(p => p.querySelector('svg path[fill="none"]')).length`,
				&drawn,
			),
			chromedp.Evaluate(
				plots+`.filter(p => p.getAttribute('aria-label')?.length > 20).length`,
				&described,
			),
		)
		require.NoError(t, err)
		want := [3]int{page.charts, page.charts, page.charts}
		assert.Equal(
			t,
			want,
			[3]int{charts, drawn, described},
			"%s: charts, drawn ones, described ones",
			page.name,
		)
		assert.Zero(t, closed, "%s: sections that stay closed when all are opened", page.name)
		assert.LessOrEqual(
			t,
			overflow,
			0,
			"%s is wider than a phone: only its tables may scroll sideways",
			page.name,
		)
		assert.NotEqual(t, grounds[0], grounds[1], "%s by day and by night", page.name)
	}
}
