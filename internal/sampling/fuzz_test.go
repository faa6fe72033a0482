package sampling

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"ds2/internal/fuzztest"
)

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
			e.Source(nil, true, nil)
			again := func(context.Context) (counted, error) { return kind.counted(shown), nil }
			src, err := kind.newSource(kind.counted(shown), nil, nil, again)
			if err != nil {
				continue
			}
			was := unknown(len(src.Figures))
			src.Read(t.Context(), was)
			columnsBetween(src, 1, was, was)
		}
	}, node, helpText.ReplaceAllString(windowsExposition, ""))
}
