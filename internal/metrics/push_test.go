package metrics

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/promtest"
)

func TestPush(t *testing.T) {
	url := promtest.StartPushgateway(t)
	require.NoError(t, Push(t.Context(), url, "k3f9",
		NewCollector(Run{Version: "v1", Engine: "postgres", Size: "S", ID: "k3f9", Threads: 1}, meter()),
		NewHostCollector(sampler(t))))
	response, err := http.Get(url + "/metrics")
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	for _, want := range []string{
		`ds2_orders_total{instance="",job="ds2",run="k3f9",target="a:5432/ds2"} 100`,
		`ds2_host_disk_reads_total{device="sda",instance="",job="ds2",run="k3f9"} 100`,
		`ds2_operation_duration_seconds_count{instance="",job="ds2",` +
			`operation="purchase",run="k3f9",target="a:5432/ds2"} 100`,
	} {
		assert.Contains(t, string(text), want+"\n", "no %s in\n%s", want, text)
	}
}

func TestPushToNobody(t *testing.T) {
	err := Push(t.Context(), "http://127.0.0.1:1", "k3f9")
	assert.ErrorContains(t, err, "push metrics: ")
}
