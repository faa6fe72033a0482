package result

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
	"ds2/internal/measure"
	"ds2/internal/monitor"
)

// change rewrites a compressed file of a record.
func change(t *testing.T, path string, edit func(text string) string) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	zip, err := gzip.NewReader(file)
	require.NoError(t, err)
	text, err := io.ReadAll(zip)
	require.NoError(t, err)
	squeeze(t, path, strings.NewReader(edit(string(text))))
}

func squeeze(t *testing.T, path string, text io.Reader) {
	t.Helper()
	file, err := os.Create(path)
	require.NoError(t, err)
	zip := gzip.NewWriter(file)
	_, err = io.Copy(zip, text)
	require.NoError(t, errors.Join(err, zip.Close(), file.Close()))
}

// field sets a field of the second line of a CSV.
func field(column, value string) func(string) string {
	return func(text string) string {
		lines := strings.Split(text, "\n")
		fields := strings.Split(lines[1], ",")
		fields[slices.Index(strings.Split(lines[0], ","), column)] = value
		lines[1] = strings.Join(fields, ",")
		return strings.Join(lines, "\n")
	}
}

func replace(old, new string) func(string) string {
	return func(text string) string { return strings.Replace(text, old, new, 1) }
}

// foreign is a histogram of other bounds than ds2's.
func foreign(t *testing.T) string {
	h := hdr.New(1, 1<<60, 5)
	h.RecordValue(5)
	text, err := h.Encode(hdr.V2CompressedEncodingCookieBase)
	require.NoError(t, err)
	return string(text)
}

// TestDamagedRecords: a record that says done is whole, or it is refused by a sentence that names the file.
func TestDamagedRecords(t *testing.T) {
	csv := func(file string, edit func(string) string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { change(t, filepath.Join(dir, file), edit) }
	}
	cut := func(file string, bytes int64) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			require.NoError(t, os.Truncate(filepath.Join(dir, file), bytes))
		}
	}
	remove := func(file string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, file)))
		}
	}
	summary := func(old, new string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, SummaryFile)
			text, err := os.ReadFile(path)
			require.True(t, err == nil && bytes.Contains(text, []byte(old)), "no %s in %s, %v", old, text, err)
			require.NoError(t, os.WriteFile(path, bytes.Replace(text, []byte(old), []byte(new), 1), 0o644))
		}
	}
	for why, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		file   string
		words  string
	}{
		"a renamed column":                   {csv(SamplesFile, replace("orders", "order")), SamplesFile, "the column orders is missing"},
		"a renamed column of histograms":     {csv(HistogramsFile, replace("series", "name")), HistogramsFile, "the column series is missing"},
		"a renamed time of counters":         {csv(HostFile, replace("t_s", "t")), HostFile, "the column t_s is missing"},
		"two columns of one name":            {csv(SamplesFile, replace("orders", "errors")), SamplesFile, "two columns have one name"},
		"a file cut to 100 bytes":            {cut(SamplesFile, 100), SamplesFile, "is damaged"},
		"an empty file":                      {cut(SamplesFile, 0), SamplesFile, "is damaged"},
		"histograms cut to 100 bytes":        {cut(HistogramsFile, 100), HistogramsFile, "is damaged"},
		"counters cut to 100 bytes":          {cut(HostFile, 100), HostFile, "is damaged"},
		"samples that are gone":              {remove(SamplesFile), SamplesFile, "no such file"},
		"histograms that are gone":           {remove(HistogramsFile), HistogramsFile, "no such file"},
		"a time that is no number":           {csv(SamplesFile, field("t_s", "NaN")), SamplesFile, "line 2: t_s: NaN cannot have been measured"},
		"an infinite time":                   {csv(SamplesFile, field("t_s", "+Inf")), SamplesFile, "line 2: t_s"},
		"a time that does not rise":          {csv(SamplesFile, field("t_s", "99")), SamplesFile, "line 3: t_s"},
		"a time of centuries":                {csv(SamplesFile, field("t_s", "1e11")), SamplesFile, "longer than any run"},
		"fewer than no orders":               {csv(SamplesFile, field("orders", "-1")), SamplesFile, "-1 is negative"},
		"response times of 1e300 ms":         {csv(SamplesFile, field("p95_ms", "1e300")), SamplesFile, "1e+300 cannot have been measured"},
		"a phase that is none":               {csv(SamplesFile, field("phase", "\x1b[2J")), SamplesFile, `invalid phase of a run "\x1b[2J"`},
		"a sum that is negative":             {csv(HistogramsFile, field("sum_ns", "-5")), HistogramsFile, "-5 is negative"},
		"an interval that ends as it begins": {csv(HistogramsFile, field("to_s", "0")), HistogramsFile, "does not follow"},
		"a histogram that is none":           {csv(HistogramsFile, field("hdrhistogram", "HISTFAAA")), HistogramsFile, "decode histogram"},
		"a histogram of other bounds":        {csv(HistogramsFile, field("hdrhistogram", foreign(t))), HistogramsFile, "not one of ds2's"},
		"a counter of 1e300":                 {csv(HostFile, field("disk.sda.queue", "1e300")), HostFile, "disk.sda.queue"},
		"a counter that is no number":        {csv(HostFile, field("disk.sda.queue", "NaN")), HostFile, "disk.sda.queue"},
		"a byte of the checksum": {func(t *testing.T, dir string) {
			path := filepath.Join(dir, SamplesFile)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			text[len(text)-7] ^= 1
			require.NoError(t, os.WriteFile(path, text, 0o644))
		}, SamplesFile, "is damaged"},
		"servers without targets":       {summary(`"targets": null`, `"targets": [], "servers": [{}, {}]`), SummaryFile, "2 of servers for 0 targets"},
		"a status that is none":         {summary(`"done"`, `"dead"`), SummaryFile, "which is none"},
		"an OPM of 1e300":               {summary(`"opm": null`, `"opm": 1e300`), SummaryFile, "cannot have been measured"},
		"an OPM without a window":       {summary(`"opm": null`, `"opm": 5, "figure": {"unit": "OPM", "value": 5}`), SummaryFile, "no window"},
		"IOPS without a window":         {summary(`"opm": null`, `"opm": null, "iops": 5, "figure": {"unit": "IOPS", "value": 5}`), SummaryFile, "no window"},
		"an OPM that is not the result": {summary(`"opm": null`, `"opm": 5`), SummaryFile, "not its result"},
		"seeds without targets":         {summary(`"targets": null`, `"targets": ["a"], "data_seeds": [1, 2]`), SummaryFile, "2 of data_seeds for 1 targets"},
		"fewer users than none":         {summary(`"threads": 0`, `"threads": -1`), SummaryFile, "cannot have been measured"},
		"a window before the start":     {summary(`"windows": null`, `"windows": [{"from_s": -5, "to_s": 5}]`), SummaryFile, "cannot have been measured"},
	} {
		t.Run(why, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, series())
			require.NoError(t, SaveHost(dir, hostTable(), hostStart))
			_, err := Read(dir)
			require.NoError(t, err, "before the damage")
			c.damage(t, dir)
			_, err = Read(dir)
			if err == nil || !strings.Contains(err.Error(), c.file) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("Read = %v, want an error with %q and %q", err, c.file, c.words)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\x1b") {
				t.Errorf("the error has control characters: %q", err)
			}
		})
	}
}

// endless is one text again and again, to so many bytes.
type endless struct {
	text string
	left int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := 0
	for n+len(e.text) <= len(p) {
		n += copy(p[n:], e.text)
	}
	e.left -= n
	return n, nil
}

// TestBombs: files that are small on disk and huge when they are read do not take the memory.
func TestBombs(t *testing.T) {
	for why, c := range map[string]struct {
		file, text, words string
		size              int
	}{
		"a line that never ends":   {SamplesFile, "1", "a line of more than", 1 << 28},
		"a header that never ends": {HostFile, "a,", "a line of more than", 1 << 28},
	} {
		t.Run(why, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, series())
			squeeze(t, filepath.Join(dir, c.file), &endless{c.text, c.size})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Read(dir)
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.file) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("Read = %v, want an error with %q and %q", err, c.file, c.words)
			}
			if taken := after.TotalAlloc - before.TotalAlloc; taken > 64<<20 {
				t.Errorf("reading it took %d MB", taken>>20)
			}
		})
	}
	t.Run("rows without end", func(t *testing.T) {
		n := 0
		err := readLines(&endless{"1\n", 1000}, "x", 20, func([]string) (func([]string) error, error) {
			return func([]string) error { n++; return nil }, nil
		})
		if err == nil || !strings.Contains(err.Error(), "more than") || n != 20 {
			t.Errorf("%d rows were read: %v", n, err)
		}
	})
}

// TestNoSymlinkIsFollowed: in a directory that others can write to, a link beside the summary does not make ds2 write
// somewhere else.
func TestNoSymlinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	precious := filepath.Join(t.TempDir(), "precious")
	require.NoError(t, os.WriteFile(precious, []byte("precious"), 0o644))
	for _, name := range []string{SummaryFile, SummaryFile + ".tmp", SummaryFile + ".partial"} {
		require.NoError(t, os.Symlink(precious, filepath.Join(dir, name)))
	}
	require.NoError(t, SaveSummary(dir, Summary{Happened: Happened{Status: Done}}))
	if text, err := os.ReadFile(precious); err != nil || string(text) != "precious" {
		t.Errorf("the file that a link points to now holds %q, %v", text, err)
	}
	if info, err := os.Lstat(filepath.Join(dir, SummaryFile)); err != nil || !info.Mode().IsRegular() {
		t.Errorf("the summary is %v, %v; want a file", info, err)
	}
}

// recordTexts are the files of a small record, unpacked.
func recordTexts(f *testing.F) map[string]string {
	f.Helper()
	dir := f.TempDir()
	w, err := Create(dir, Summary{
		Asked:    Asked{RunID: "abc", Targets: []string{"host/db"}},
		Happened: Happened{Status: Running},
	})
	require.NoError(f, err)
	s := series()
	for _, sample := range s.Samples {
		err = errors.Join(err, w.Sample(sample))
	}
	for _, iv := range s.Intervals {
		err = errors.Join(err, w.Interval(iv))
	}
	if err := errors.Join(err, w.Close(), SaveSummary(dir, Summary{
		Asked:    Asked{RunID: "abc", Targets: []string{"host/db"}},
		Happened: Happened{Status: Done},
	})); err != nil {
		f.Fatal(err)
	}
	texts := map[string]string{HostFile: "t_s,disk.sda.queue\n-1.000,5\n0.000,\n"}
	for _, name := range []string{SamplesFile, HistogramsFile} {
		file, err := os.Open(filepath.Join(dir, name))
		require.NoError(f, err)
		defer file.Close()
		zip, err := gzip.NewReader(file)
		require.NoError(f, err)
		text, err := io.ReadAll(zip)
		require.NoError(f, err)
		texts[name] = string(text)
	}
	text, err := os.ReadFile(filepath.Join(dir, SummaryFile))
	require.NoError(f, err)
	texts[SummaryFile] = string(text)
	return texts
}

// FuzzRead: no record makes the reader panic, whatever its files hold and whichever are missing. An input is the files,
// with a separator between two, and then as many bytes as are cut off the ends of the compressed ones.
func FuzzRead(f *testing.F) {
	texts := recordTexts(f)
	for _, name := range []string{SamplesFile, HistogramsFile} {
		texts[name] = beginning(texts[name], 3)
	}
	files := []string{SummaryFile, SamplesFile, HistogramsFile, HostFile}
	const separator = "\x1e"
	record := func(summary, cut string) string {
		return strings.Join([]string{summary, texts[SamplesFile], texts[HistogramsFile], texts[HostFile], cut}, separator)
	}
	parent := f.TempDir()
	dirs := sync.Pool{New: func() any {
		dir, err := os.MkdirTemp(parent, "")
		if err != nil {
			panic(err)
		}
		return &dir
	}}
	zips := sync.Pool{New: func() any {
		zip, _ := gzip.NewWriterLevel(nil, gzip.NoCompression)
		return zip
	}}
	fuzztest.Run(f, func(t testing.TB, text string) {
		pooled := dirs.Get().(*string)
		defer dirs.Put(pooled)
		dir := *pooled
		parts := strings.SplitN(text, separator, len(files)+1)
		cut := len(strings.Join(parts[min(len(parts), len(files)):], ""))
		for i, name := range files {
			path := filepath.Join(dir, name)
			if i >= len(parts) {
				os.Remove(path)
				continue
			}
			content := []byte(parts[i])
			if i > 0 {
				var b bytes.Buffer
				zip := zips.Get().(*gzip.Writer)
				zip.Reset(&b)
				zip.Write(content)
				zip.Close()
				zips.Put(zip)
				content = b.Bytes()[:max(0, b.Len()-cut)]
			}
			if err := os.WriteFile(path, content, 0o644); err != nil {
				t.Errorf("%v", err)
				return
			}
		}
		opened, _ := Open(dir)
		r, ok := opened.(*Record)
		if !ok || r == nil {
			return
		}
		for _, s := range r.Series.Samples {
			assert.True(t, s.Length > 0 && s.Counts.Orders >= 0, "sample %+v", s)
		}
		_, err := json.Marshal(r.Summary)
		assert.NoError(t, err, "a record that was read cannot be written")
		Merge([]*Record{r, r})
	}, record(texts[SummaryFile], ""), record(strings.Replace(texts[SummaryFile], "done", "running", 1), "123456789"),
		`{"schema":2,"kind":"bench","status":"done","runs":[{"dir":"run-1","counts":true,"opm":5}],"median":"run-1"}`)
}

// FuzzHistogram reads any bytes as those of a histogram.
func FuzzHistogram(f *testing.F) {
	raw, err := base64.StdEncoding.DecodeString(series().Intervals[0].Histograms["login"])
	require.NoError(f, err)
	fuzztest.Run(f, func(t testing.TB, raw []byte) {
		measure.CheckHistogram(base64.StdEncoding.EncodeToString(raw))
	}, raw, binary.BigEndian.AppendUint32(nil, 0x1c849314))
}

func FuzzSummary(f *testing.F) {
	examples := []string{`{"schema":2,"kind":"bench","status":"done","runs":[{"dir":"run-1","counts":true,"opm":5}],"median":"run-1"}`,
		`{"schema":2,"kind":"experiment","status":"done","runs":[{"dir":"run-1","counts":true,"opm":5}]}`}
	headline := NewHeadline(&Figure{Unit: OPM, Value: 5})
	for _, s := range []Summary{
		{Asked: Asked{RunID: "abc", Targets: []string{"host/db"}}, Happened: Happened{Status: Running}},
		{
			Asked: Asked{RunID: "abc"}, Happened: Happened{Status: Done},
			Conclusion: Conclusion{Headline: headline, Windows: []measure.Window{{Name: "run"}}},
		},
	} {
		text, err := json.Marshal(s)
		require.NoError(f, err)
		examples = append(examples, string(text))
	}
	fuzztest.Run(f, func(t testing.TB, text string) {
		for _, v := range []interface{ check() error }{new(Summary), new(Bench), new(Experiment)} {
			if decode([]byte(text), v) == nil && v.check() == nil {
				_, err := json.Marshal(v)
				assert.NoError(t, err, "a record that was read cannot be written")
			}
		}
	}, examples...)
}

// fuzzLines gives a reader of lines any text.
func fuzzLines(f *testing.F, check func(t testing.TB, read func(reader) error), examples ...string) {
	f.Helper()
	fuzztest.Run(f, func(t testing.TB, text string) {
		check(t, func(read reader) error { return readLines(strings.NewReader(text), "file", 10_000, read) })
	}, examples...)
}

func FuzzSamples(f *testing.F) {
	text := recordTexts(f)[SamplesFile]
	fuzzLines(f, func(t testing.TB, read func(reader) error) {
		var samples []measure.Sample
		err := read(sampleLines(&samples))
		for _, s := range samples {
			if err == nil && (s.Length <= 0 || s.Counts.Orders < 0) {
				t.Errorf("sample %+v", s)
			}
		}
	}, beginning(text, 5), beginning(text, 3))
}

func FuzzIntervals(f *testing.F) {
	text := recordTexts(f)[HistogramsFile]
	fuzzLines(f, func(t testing.TB, read func(reader) error) {
		read(intervalLines(new([]measure.Interval)))
	}, beginning(text, 5), beginning(text, 3))
}

func FuzzHost(f *testing.F) {
	fuzzLines(f, func(t testing.TB, read func(reader) error) {
		var table monitor.Table
		err := read(hostLines(&table, time.Unix(0, 0)))
		for _, row := range table.Rows {
			if err == nil && len(row.Values) != len(table.Columns) {
				t.Errorf("%d values of %d columns", len(row.Values), len(table.Columns))
			}
		}
	}, recordTexts(f)[HostFile], "t_s,disk.sda.queue,x\n0.000,,1e14\n0.500,5,\n")
}

// beginning is that of a text, so many lines of it.
func beginning(text string, lines int) string {
	return strings.Join(strings.SplitAfter(text, "\n")[:lines], "")
}
