package counts

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// columns are those of the samples of DVD Store since the first records.
const columns = "t_s,phase,users,orders,purchases,rollbacks,new_customers,errors,retries,reconnects,in_doubt_purchases,in_doubt_customers,in_doubt_cents," +
	"given_up,total_cents,names_taken,unknown_users,offered,dropped,own_ns,mean_ms,p95_ms,max_ms,operations_p95_ms"

// TestRecordsStayAsTheyAre holds columns and keys against those of records that were written before workloads named their counts.
func TestRecordsStayAsTheyAre(t *testing.T) {
	names := result.Names(All)
	c := measure.Counts{Orders: 100, Retries: 101, Reconnects: 102, GivenUp: 103, Offered: 104, Dropped: 105, Names: &names}
	for place := range All {
		c.Own[place] = int64(place + 1)
	}
	dir := t.TempDir()
	w, err := result.Create(dir, result.Summary{Happened: result.Happened{Status: result.Running}}, All...)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Sample(measure.Sample{End: time.Second, Phase: measure.PhaseRun, Users: 3, Errors: 106, OwnTime: 107, Counts: c}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(filepath.Join(dir, result.SamplesFile))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for lines, want := bufio.NewScanner(zip), []string{columns, "1.000,run,3,100,1,2,3,106,101,102,4,5,6,103,7,8,9,104,105,107,0.00,0.00,0.00,"}; len(want) > 0; want = want[1:] {
		if !lines.Scan() || lines.Text() != want[0] {
			t.Errorf("%q, want %q", lines.Text(), want[0])
		}
	}
	series, err := result.ReadSeries(dir)
	if err != nil {
		t.Fatal(err)
	}
	read := series.Samples[0].Counts

	const summary = `{"orders":100,"purchases":1,"rollbacks":2,"new_customers":3,"names_taken":8,"unknown_users":9,"total_cents":7,"retries":101,"reconnects":102,` +
		`"in_doubt_purchases":4,"in_doubt_customers":5,"in_doubt_total_cents":6,"given_up":103,"offered":104,"dropped":105}`
	var old measure.Counts
	if err := json.Unmarshal([]byte(summary), &old); err != nil {
		t.Fatal(err)
	}
	for place, count := range All {
		if want := int64(place + 1); Of(read, place) != want || Of(old, place) != want {
			t.Errorf("%s is %d in samples and %d in a summary, want %d", count.Name, Of(read, place), Of(old, place), want)
		}
	}
	var before, now map[string]int64
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &now); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(summary), &before); err != nil {
		t.Fatal(err)
	}
	for key, n := range before {
		if now[key] != n || len(now) != len(before) {
			t.Errorf("%s is %d in a summary of %d keys, want %d of %d", key, now[key], len(now), n, len(before))
		}
	}
}
