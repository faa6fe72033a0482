package monitor

import (
	"testing"

	"ds2/internal/fuzztest"
)

func FuzzSMART(f *testing.F) {
	fuzztest.Run(
		f,
		func(t testing.TB, text []byte) { parseSMART(text) },
		[]byte(`{"nvme_smart_health_information_log":{"temperature":40,"percentage_used":3}}`),
		[]byte(
			`{"ata_device_statistics":{"pages":[{"table":[{"name":"Logical Sectors Written","value":5}]}]}}`,
		),
	)
}
