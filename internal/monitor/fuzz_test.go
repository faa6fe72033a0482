package monitor

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"
)

// canned answers every request with the same bytes.
type canned []byte

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(c)), Request: r}, nil
}

// FuzzPrometheus has a Prometheus answer with anything.
func FuzzPrometheus(f *testing.F) {
	f.Add([]byte(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"device":"sda"},"values":[[1,"2"],[2,"NaN"],[3,"+Inf"]]}]}}`))
	f.Add([]byte(`{"status":"success","data":{"resultType":"vector","result":[]}}`))
	f.Add([]byte(`{"status":"error","errorType":"bad_data","error":"no"}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		client, err := api.NewClient(api.Config{Address: "http://localhost", RoundTripper: canned(answer)})
		if err != nil {
			t.Fatal(err)
		}
		p := &Prometheus{v1.NewAPI(client)}
		p.query(t.Context(), "up", []Row{{Time: time.Unix(1, 0)}, {Time: time.Unix(3, 0)}})
		p.Machine(t.Context(), "host", time.Unix(1, 0))
	})
}

func FuzzSMART(f *testing.F) {
	f.Add([]byte(`{"nvme_smart_health_information_log":{"temperature":40,"percentage_used":3}}`))
	f.Add([]byte(`{"ata_smart_attributes":{"table":[{"id":241,"raw":{"value":5}}]}}`))
	f.Fuzz(func(t *testing.T, text []byte) { parseSMART(text) })
}
