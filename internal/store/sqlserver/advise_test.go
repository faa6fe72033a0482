package sqlserver

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAdvice(t *testing.T) {
	sound := settings{
		"max server memory (MB)":             "8192",
		"server memory bytes":                "68719476736",
		"database used bytes":                "20000000000",
		"database recovery model":            "FULL",
		"database log chain":                 "begun",
		"database log bytes":                 "8400000000",
		"database log used bytes":            "10000000",
		"database delayed durability":        "DISABLED",
		"database page verify":               "CHECKSUM",
		"server instant file initialization": "Y",
		"log volume":                         `F:\`,
		"log volume free bytes":              "500000000000",
		"database query store":               "0",
		"database accelerated recovery":      "0",
		"database read committed snapshot":   "0",
		"database target recovery time (s)":  "60",
		"database compatibility level":       "160",
		"server memory target bytes":         "8589934592",
		"server memory committed bytes":      "8589934592",
		"server buffer pool extension":       "0",
		"database memory optimized pages":    "0",
		"database availability group":        "0",
		"database encryption":                "0",
		"database compressed indexes":        "0",
		"server resource governor":           "0",
		"tempdb data files":                  "8",
		"server CPUs":                        "24",
		"ActivePowerScheme":                  "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c",
		"server edition":                     "Developer Edition (64-bit)",
		"database persistent log buffer":     "0",
	}
	with := func(s settings, more ...string) []string {
		s = maps.Clone(s)
		for i := 0; i < len(more); i += 2 {
			s[more[i]] = more[i+1]
		}
		reads, others := judgeSettings(s, 20*time.Minute, 0)
		if reads != "" {
			others = append(others, reads)
		}
		return others
	}
	assert.Empty(t, with(sound), "of the storage report's own server")
	assert.Empty(
		t,
		with(sound, "database delayed durability", "ALLOWED"),
		"orders do not ask for it",
	)
	assert.Empty(
		t,
		with(sound, "ActivePowerScheme", "{E9A42B02-D5DF-448D-AA00-03F14749EB61}"),
		"Ultimate",
	)
	small := with(
		sound,
		"server edition",
		"Express Edition (64-bit)",
		"database used bytes",
		"2000000000",
	)
	assert.Empty(t, small, "Express keeps 1,410 MB of pages")
	assert.Empty(t, with(settings{}), "where nothing is told")
	unlimited := settings{
		"max server memory (MB)":   "2147483647",
		"database used bytes":      "21474836480",
		"server resource governor": "0",
	}
	assert.Empty(t, with(unlimited), "no limit is no size")
	assert.Empty(
		t,
		with(sound, "database recovery model", "SIMPLE", "ds2 workload", "mailbox"),
		"which ds2 gave it",
	)
	for _, c := range []struct{ name, value, says string }{
		{"max server memory (MB)", "2147483647", "fits into the 68.7 GB of memory"},
		{"database used bytes", "4000000000", "fits into the 8.6 GB of memory"},
		{"database recovery model", "SIMPLE", "the recovery model is SIMPLE"},
		{"database log chain", "none", "full in name only"},
		{"database log used bytes", "5000000000", "59 % full"},
		{"database delayed durability", "FORCED", "commits do not wait for the log"},
		{"database page verify", "NONE", "page verify is NONE"},
		{"server instant file initialization", "N", "instant file initialization is off"},
		{"log volume free bytes", "1000000000", `the log's volume F:\ has 1000 MB left`},
		{"database query store", "1", "the Query Store is on"},
		{"database accelerated recovery", "1", "accelerated database recovery is on"},
		{"database read committed snapshot", "1", "read committed snapshot is on"},
		{"database target recovery time (s)", "3600", "may end before checkpoints"},
		{"server memory committed bytes", "1000000000", "eight pages for each one asked for"},
		{"server buffer pool extension", "1", "the buffer pool extension is on"},
		{"database memory optimized pages", "1", "hybrid buffer pool is on"},
		{"database persistent log buffer", "1", "a buffer on persistent memory"},
		{"database availability group", "1", "is in an availability group"},
		{"database encryption", "1", "transparent data encryption is on"},
		{"database compressed indexes", "3", "are compressed"},
		{"server resource governor", "1", "Resource Governor is on"},
		{"server trace flags", "1117, 3979", "trace flags 1117, 3979 are on"},
		{"server suspect pages", "2", "lists 2 damaged pages"},
		{"database compatibility level", "110", "the compatibility level is 110"},
		{"tempdb data files", "1", "tempdb has 1 data files for 24 CPUs: give it 8"},
		{
			"ActivePowerScheme", "381b4222-f694-41f0-9685-ff5bb260df2e",
			"power plan is not High performance",
		},
	} {
		lines := with(sound, c.name, c.value)
		assert.Len(t, lines, 1, "%s = %s", c.name, c.value)
		assert.Contains(t, strings.Join(lines, "\n"), c.says)
	}
}
