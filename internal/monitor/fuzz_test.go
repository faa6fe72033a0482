package monitor

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
)

// canned answers a request with the bytes in its context.
type canned struct{}

func (canned) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := r.Context().Value(canned{}).([]byte)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(answer)), Request: r}, nil
}

// FuzzPrometheus has a Prometheus answer with anything.
func FuzzPrometheus(f *testing.F) {
	client, err := api.NewClient(api.Config{Address: "http://localhost", RoundTripper: canned{}})
	require.NoError(f, err)
	p := &Prometheus{v1.NewAPI(client)}
	fuzztest.Run(f, func(t testing.TB, answer []byte) {
		ctx := context.WithValue(t.Context(), canned{}, answer)
		table := Table{Rows: []Row{{Time: time.Unix(1, 0)}, {Time: time.Unix(3, 0)}}}
		p.FillPower(ctx, &table, "up")
		p.Fill(ctx, &table, "host", nil)
		p.scrapes(ctx, "{}", time.Unix(1, 0), time.Unix(3, 0), func(time.Time, exposition) error { return nil })
	},
		[]byte(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"device":"sda"},"values":[[1,"2"],[2,"NaN"],[3,"+Inf"]]}]}}`),
		[]byte(`{"status":"success","data":{"resultType":"vector","result":[]}}`),
		[]byte(`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"node_cpu_seconds_total","cpu":"0","mode":"idle","instance":"a","job":"b"},"value":[1,"2"]}]}}`),
		[]byte(`{"status":"success","data":{"resultType":"vector","result":[null]}}`),
		[]byte(`{"status":"success","data":{"resultType":"matrix","result":[null]}}`),
		[]byte(`{"status":"error","errorType":"bad_data","error":"no"}`))
}

func FuzzSMART(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text []byte) { parseSMART(text) },
		[]byte(`{"nvme_smart_health_information_log":{"temperature":40,"percentage_used":3}}`),
		[]byte(`{"ata_smart_attributes":{"table":[{"id":241,"raw":{"value":5}}]}}`))
}

var helpText = regexp.MustCompile(`(?m)^# HELP .*\n`)

// FuzzExposition has an exporter show anything.
func FuzzExposition(f *testing.F) {
	const node = `# TYPE node_boot_time_seconds gauge
node_boot_time_seconds 1.7e9
node_time_seconds 1.8e9
# TYPE node_cpu_seconds_total counter
node_cpu_seconds_total{cpu="0",mode="idle"} 5
node_disk_reads_completed_total{device="sda"} 7
node_disk_info{device="sda",model="x",rotational="0"} 1
node_scrape_collector_success{collector="diskstats"} 1
node_uname_info{nodename="a",release="b",sysname="Linux"} 1
`
	fuzztest.Run(f, func(t testing.TB, text string) {
		shown, err := parseExposition(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, kind := range exporterKinds {
			kind.machine(shown)
			e := &Exporter{Name: "x", kind: kind, first: shown}
			if _, err := e.Source(nil, true); err != nil {
				continue
			}
			for _, part := range kind.sources(shown, drivesAmong(inOrder(kind.disks(shown))), func() exposition { return shown }) {
				part.Read(t.Context(), make([]float64, len(part.Figures)))
			}
		}
	}, node, helpText.ReplaceAllString(windowsExposition, ""))
}

// TestEndlessAnswer has a Prometheus answer without end: it is given up, and does not take the memory.
func TestEndlessAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`{"status":"success","data":{"resultType":"vector","result":[`))
		for part := []byte(strings.Repeat(" ", 1<<20)); ; {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	p, err := NewPrometheus(server.URL)
	require.NoError(t, err)
	if _, err := p.find(t.Context(), "up", time.Unix(1, 0)); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%v", err)
	}
}
