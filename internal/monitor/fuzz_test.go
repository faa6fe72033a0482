package monitor

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/api"
	v1 "github.com/prometheus/client_golang/api/prometheus/v1"

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
	if err != nil {
		f.Fatal(err)
	}
	p := &Prometheus{v1.NewAPI(client)}
	fuzztest.Run(f, func(t testing.TB, answer []byte) {
		ctx := context.WithValue(t.Context(), canned{}, answer)
		p.query(ctx, "up", []Row{{Time: time.Unix(1, 0)}, {Time: time.Unix(3, 0)}})
		p.Machine(ctx, "host", time.Unix(1, 0))
	},
		[]byte(`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"device":"sda"},"values":[[1,"2"],[2,"NaN"],[3,"+Inf"]]}]}}`),
		[]byte(`{"status":"success","data":{"resultType":"vector","result":[]}}`),
		[]byte(`{"status":"error","errorType":"bad_data","error":"no"}`))
}

func FuzzSMART(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text []byte) { parseSMART(text) },
		[]byte(`{"nvme_smart_health_information_log":{"temperature":40,"percentage_used":3}}`),
		[]byte(`{"ata_smart_attributes":{"table":[{"id":241,"raw":{"value":5}}]}}`))
}
