package power

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
	"ds2/internal/sampling"
)

// meterLogs are what meters and loggers write of 100 W at noon in Berlin, and 200 W a second later.
var meterLogs = map[string]string{
	"RFC 3339":                        "2026-01-31T11:00:00Z,100\n2026-01-31T12:00:01+01:00,200\n",
	"local time":                      "2026-01-31 12:00:00,100\n2026-01-31 12:00:01.0,200\n",
	"Unix seconds":                    "1769857200,100\n1769857201.0,200\n",
	"Unix milliseconds":               "time,watts\n1769857200000,100\n1769857201000,200\n",
	"Unix microseconds":               "1769857200000000,100\n1769857201000000,200\n",
	"Unix nanoseconds":                "1769857200000000000,100\n1769857201000000000,200\n",
	"names say which columns count":   "volts,watts,time\n230,100,1769857200\n231,200,1769857201\n",
	"names in the usual order":        "Time, Watts\n1769857200, 100\n1769857201, 200\n",
	"semicolons":                      "1769857200;100\n1769857201;200\n",
	"blanks":                          "1769857200 100\n1769857201 200\n",
	"date, time, watts by blanks":     "2026-01-31 12:00:00 100\n2026-01-31 12:00:01 200\n",
	"the later line first":            "1769857201,200\n1769857200,100\n",
	"half a line, as of a log in use": "1769857200,100\n1769857201,200\n17698",
	"PTDaemon": "Time,01-31-2026 12:00:00.000,Watts,100.00,Volts,229.1,Amps,0.46,PF,0.95,Mark,run\n" +
		"Time,01-31-2026 12:00:01.000,Watts,200.00,Volts,229.2,Amps,0.91,PF,0.96,Mark,run\n",
	"a byte order mark":     "\ufefftime,watts\n1769857200,100\n1769857201,200\n",
	"a title":               "Logger 7\nDatum\ntime,watts\n1769857200,100\n1769857201,200\n",
	"Power_Watts":           "Timestamp,Power_Watts\n1769857200,100\n1769857201,200\n",
	"power_w":               "timestamp,voltage,power_w\n1769857200,230,100\n1769857201,230,200\n",
	"Power (W)":             "DateTime;Amps;Power (W)\n2026-01-31 12:00;1;100\n2026-01-31 12:00:01;2;200\n",
	"milliwatts":            "datetime,power_mW\n2026-01-31T12:00:00,100000\n2026-01-31T12:00:01,200000\n",
	"Date,Time,Watts":       "Date,Time,Watts\n2026-01-31,12:00:00,100\n2026-01-31,12:00:01,200\n",
	"comments":              "# meter 1\n#time,watts\n1769857200,100\n\n1769857201,200\n# end\n",
	"units":                 "1769857200,100.0 W\n1769857201,0.2kW\n",
	"units say which":       "1769857200,230 V,1 A,100 W\n1769857201,230 V,2 A,200 W\n",
	"decimal commas":        "Timestamp;W\n2026-01-31 12:00:00;100,0\n2026-01-31 12:00:01,0;200,0\n",
	"decimal commas by tab": "timestamp\tW\n1769857200,0\t100,0\n1769857201,0\t200,0\n",
	"month first":           "01/31/2026 12:00:00,100\n01/31/2026 12:00:01,200\n",
	"a clock of 12 hours":   "1/31/2026 12:00:00 PM,100\n1/31/2026, 12:00:01 p.m.,200\n",
	"quotes": "\"Time\",\"W\"\n" +
		"\"Jan 31, 2026 12:00:00 PM\",\"100\"\n\"Jan 31, 2026 12:00:01 PM\",\"200\"\n",
	"a 60th second":          "2026-01-31 11:59:60,100\n2026-01-31 12:00:01,200\n",
	"days with points":       "31.01.2026 12:00:00;100\n31.1.2026 12:00:01;200\n",
	"sep=":                   "sep=;\r\ntime;watts\r\n1769857200;100\r\n1769857201;200\r\n",
	"ctime":                  "Sat Jan 31 12:00:00 2026,100\nSat Jan 31 12:00:01 2026,200\n",
	"a separator at the end": "time,watts,\n1769857200,100,\n1769857201,200,\n",
}

func TestReadMeterLog(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	noon := time.Date(2026, 1, 31, 11, 0, 0, 0, time.UTC)
	type expected struct {
		text string
		left int
		err  string
	}
	cases := map[string]expected{
		"nothing in it": {"", 0, "no reading"},
		"one column":    {"1769857200\n", 0, "line 1: 1 field"},
		"no time":       {"noon,100\n", 0, `line 1: invalid time "noon"`},
		"a row without a number": {
			"1769857200,100\n1769857200,\n1769857200,---\n---\n1769857201,200\n",
			3,
			"",
		},
		"a logger started again": {
			"time,watts\n1769857200,100\ntime,watts\n1769857201,200\n",
			0,
			"",
		},
		"no number in any": {
			"1769857200,much\n",
			1,
			`line 1: no number of W, kW or mW: "much"`,
		},
		"other names": {
			"time,volts\n1769857200,230\n", 1,
			"line 1: one column of time and one of power are needed",
		},
		"power twice": {
			"time,W,kW\n1769857200,230,1\n",
			1,
			"line 1: one column of time",
		},
		"a decimal comma":         {"time,watts\n1769857200,100,5\n", 1, "line 2: it has 3 fields"},
		"a thousands separator":   {"time;watts\n1769857200;1.100,5\n", 1, `line 2: no number`},
		"several columns":         {"1769857200,230,100\n", 1, "several columns after the time"},
		"megawatts":               {"1769857200,1 MW\n", 1, "no number of W, kW or mW"},
		"13 o'clock of 12":        {"1/31/2026 13:00:00 PM,100\n", 1, "invalid time"},
		"which of two is the day": {"03/04/2026 12:00:00,100\n", 0, "month/day or day/month"},
		"two years":               {"2026/01/2026 12:00:00,100\n", 1, "invalid time"},
	}
	for name, text := range meterLogs {
		cases[name] = expected{text, 0, ""}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s, left, err := ReadMeterLog([]byte(c.text), noon, berlin)
			if c.err != "" {
				require.ErrorContains(t, err, c.err, "ReadMeterLog")
				return
			}
			require.NoError(t, err)
			assert.Equal(
				t,
				sampling.Series{
					{Time: noon, Value: 100},
					{Time: noon.Add(time.Second), Value: 200},
				},
				s,
			)
			assert.Equal(t, c.left, left, "rows left out")
		})
	}
	for near, month := range map[time.Time]time.Month{
		time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC): 3, time.Date(2026, 4, 3, 12, 0, 0, 0, time.UTC): 4,
	} {
		s, _, err := ReadMeterLog([]byte("03/04/2026 12:00:00,100\n"), near, time.UTC)
		require.NoError(t, err)
		assert.Equal(t, month, s[0].Time.Month(), "read near %v", near)
	}
}

// TestMeterLogLacks: what is wrong with a meter's log is said, and no fault of the run.
func TestMeterLogLacks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	start := time.Date(2026, 1, 31, 11, 0, 0, 0, time.Local)
	table := sampling.Table{Rows: []sampling.Row{{Time: start}, {Time: start.Add(time.Minute)}}}
	for text, want := range map[string]string{
		"":                        "it holds no reading",
		"1769853600,100\n":        "it covers 2026-01-31 10:00:00 to 2026-01-31 10:00:00, the run ",
		"2026-01-31 11:00:00,1\n": "",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, lacks := Fill(file, &table, start, start.Add(20*time.Second))
		assert.Contains(t, lacks, want)
		assert.Equal(t, want == "", lacks == "", lacks)
	}
	require.NoError(t, os.Remove(file))
	_, lacks := Fill(file, &table, start, start)
	assert.Contains(t, lacks, "no such file")
}

func FuzzReadMeterLog(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		s, _, err := ReadMeterLog([]byte(text), time.Unix(1769857200, 0), time.UTC)
		assert.False(t, err == nil && len(s) == 0, "neither readings nor an error")
		for _, p := range s {
			assert.True(t, p.Value >= 0, "a reading of %v W", p.Value)
		}
	}, slices.Collect(maps.Values(meterLogs))...)
}
