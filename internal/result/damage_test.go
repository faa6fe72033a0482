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

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
	"ds2/internal/measure"
)

// unpacked is the text of a file of a record, compressed or not.
func unpacked(t testing.TB, path string) string {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	from := io.Reader(file)
	if strings.HasSuffix(path, ".gz") {
		from, err = gzip.NewReader(file)
		require.NoError(t, err)
	}
	text, err := io.ReadAll(from)
	require.NoError(t, err)
	return string(text)
}

// squeeze writes a compressed file of a record.
func squeeze(t *testing.T, path string, text io.Reader) {
	t.Helper()
	file, err := os.Create(path)
	require.NoError(t, err)
	zip := gzip.NewWriter(file)
	_, err = io.Copy(zip, text)
	require.NoError(t, errors.Join(err, zip.Close(), file.Close()))
}

// A damage is done to the file of a path.
type damage func(t *testing.T, path string)

// edit rewrites a file of a record.
func edit(change func(text string) string) damage {
	return func(t *testing.T, path string) {
		old := unpacked(t, path)
		text := change(old)
		require.NotEqual(t, old, text)
		if strings.HasSuffix(path, ".gz") {
			squeeze(t, path, strings.NewReader(text))
		} else {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
	}
}

func replace(old, new string) damage {
	return edit(func(text string) string { return strings.Replace(text, old, new, 1) })
}

// field sets a field of the second line of a CSV.
func field(column, value string) damage {
	return edit(func(text string) string {
		lines := strings.Split(text, "\n")
		fields := strings.Split(lines[1], ",")
		fields[slices.Index(strings.Split(lines[0], ","), column)] = value
		lines[1] = strings.Join(fields, ",")
		return strings.Join(lines, "\n")
	})
}

func cut(bytes int64) damage {
	return func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, bytes)) }
}

func remove(t *testing.T, path string) { require.NoError(t, os.Remove(path)) }

func changeChecksum(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	text[len(text)-7] ^= 1
	require.NoError(t, os.WriteFile(path, text, 0o644))
}

// foreign is a histogram of other bounds than ds2's.
func foreign(t *testing.T) string {
	h := hdr.New(1, 1<<60, 5)
	h.RecordValue(5)
	text, err := h.Encode(hdr.V2CompressedEncodingCookieBase)
	require.NoError(t, err)
	return string(text)
}

// TestDamagedRecords: a record that says done is whole, or it is refused by a sentence that names
// the file.
func TestDamagedRecords(t *testing.T) {
	for why, c := range map[string]struct {
		file   string
		damage damage
		words  string
	}{
		"a renamed column":            {SamplesFile, replace("orders", "order"), "the column orders is missing"},
		"a renamed histogram column":  {HistogramsFile, replace("series", "name"), "the column series is missing"},
		"a renamed time of counters":  {HostFile, replace("t_s", "t"), "the column t_s is missing"},
		"two columns of one name":     {SamplesFile, replace("orders", "errors"), "two columns have one name"},
		"a file cut to 100 bytes":     {SamplesFile, cut(100), "is damaged"},
		"an empty file":               {SamplesFile, cut(0), "copy the record again"},
		"a file without a line":       {SamplesFile, edit(func(string) string { return "" }), "copy the record again"},
		"histograms cut to 100 bytes": {HistogramsFile, cut(100), "is damaged"},
		"counters cut to 100 bytes":   {HostFile, cut(100), "is damaged"},
		"samples that are gone":       {SamplesFile, remove, "no such file"},
		"histograms that are gone":    {HistogramsFile, remove, "no such file"},
		"a byte of the checksum":      {SamplesFile, changeChecksum, "is damaged"},
		"a line of too many fields":   {SamplesFile, field("phase", "run,run"), "line 2: has "},
		"a time that is no number":    {SamplesFile, field("t_s", "NaN"), "line 2: t_s: NaN cannot have been measured"},
		"an infinite time":            {SamplesFile, field("t_s", "+Inf"), "line 2: t_s"},
		"a time that does not rise":   {SamplesFile, field("t_s", "99"), "line 3: t_s"},
		"a time of centuries":         {SamplesFile, field("t_s", "1e11"), "longer than any run"},
		"fewer than no orders":        {SamplesFile, field("orders", "-1"), "-1 is negative"},
		"2^63 - 1 orders": {
			SamplesFile, field("orders", "9223372036854775807"),
			"cannot have been measured",
		},
		"a directory in place of a file": {SamplesFile, func(t *testing.T, path string) {
			require.NoError(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
		}, "is not a regular file"},
		"response times of 1e300 ms": {SamplesFile, field("p95_ms", "1e300"), "1e+300 cannot have been measured"},
		"a phase that is none":       {SamplesFile, field("phase", "\x1b[2J"), `invalid phase of a run "\x1b[2J"`},
		"a sum that is negative":     {HistogramsFile, field("sum_ns", "-5"), "-5 is negative"},
		"an empty interval":          {HistogramsFile, field("to_s", "0"), "does not follow"},
		"a histogram that is none":   {HistogramsFile, field("hdrhistogram", "HISTFAAA"), "decode histogram"},
		"a histogram of other bounds": {
			HistogramsFile, field("hdrhistogram", foreign(t)), "not one of ds2's",
		},
		"a counter of 1e300":          {HostFile, field("disk.sda.queue", "1e300"), "disk.sda.queue"},
		"covers of too few counters":  {HostFile, field("covers_s", "1x5"), "is not of"},
		"covers that are no number":   {HostFile, field("covers_s", "2y5"), "is not a number of counters"},
		"a counter that is no number": {HostFile, field("disk.sda.queue", "NaN"), "disk.sda.queue"},

		"a summary that is gone":    {SummaryFile, remove, "is not a record"},
		"a summary that is no JSON": {SummaryFile, cut(1), "unexpected end of JSON"},
		"servers without targets": {
			SummaryFile, replace(`"by_target": null`, `"servers": [{}, {}]`),
			"2 of servers for 0 targets",
		},
		"a status that is none": {SummaryFile, replace(`"done"`, `"dead"`), "unknown status"},
		"an OPM of 1e300":       {SummaryFile, replace(`"opm": null`, `"opm": 1e300`), "cannot have been measured"},
		"an OPM without a window": {
			SummaryFile,
			replace(`"opm": null`, `"opm": 5, "figure": {"unit": "OPM", "value": 5}`), "no window",
		},
		"IOPS without a window": {
			SummaryFile,
			replace(`"opm": null`, `"opm": null, "iops": 5, "figure": {"unit": "IOPS", "value": 5}`), "no window",
		},
		"an OPM that is not the result": {
			SummaryFile, replace(`"opm": null`, `"opm": 5`), "not its result",
		},
		"seeds without targets": {
			SummaryFile, replace(`"targets": null`, `"targets": ["a"], "data_seeds": [1, 2]`),
			"2 of data_seeds for 1 targets",
		},
		"fewer users than none": {
			SummaryFile, replace(`"threads": 0`, `"threads": -1`), "cannot have been measured",
		},
		"a window before the start": {
			SummaryFile,
			replace(`"windows": null`, `"windows": [{"from_s": -5, "to_s": 5}]`), "cannot have been measured",
		},
	} {
		t.Run(why, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, series())
			require.NoError(t, SaveHost(dir, hostTable(), hostStart))
			s, err := ReadSummary[Summary](dir)
			require.NoError(t, err)
			require.NoError(t, SaveSummary(dir, s))
			_, err = Read(dir)
			require.NoError(t, err, "before the damage")
			c.damage(t, filepath.Join(dir, c.file))
			_, err = Read(dir)
			require.ErrorContains(t, err, c.file)
			assert.ErrorContains(t, err, c.words)
			assert.NotContains(t, err.Error(), "\x1b", "control characters")
			assert.NotContains(t, err.Error(), "EOF", "a word of the library's")
		})
	}
}

// endless is one text again and again, to n bytes.
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
	for file, text := range map[string]string{SamplesFile: "1", HostFile: "a,"} {
		dir := t.TempDir()
		write(t, dir, series())
		squeeze(t, filepath.Join(dir, file), &endless{text, 1 << 28})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(dir)
		runtime.ReadMemStats(&after)
		assert.ErrorContains(t, err, file+" has a line of more than")
		assert.Less(
			t,
			after.TotalAlloc-before.TotalAlloc,
			uint64(64<<20),
			"bytes that reading it took",
		)
	}
	n := 0
	err := readLines(&endless{"1\n", 1000}, "x", 20, func([]string) (func([]string) error, error) {
		return func([]string) error { n++; return nil }, nil
	})
	assert.ErrorContains(t, err, "more than 20 rows")
	assert.Equal(t, 20, n, "rows that were read")
}

// recordTexts are the files of a small record, unpacked.
func recordTexts(f *testing.F) map[string]string {
	f.Helper()
	dir := f.TempDir()
	write(f, dir, series())
	texts := map[string]string{HostFile: "t_s,disk.sda.queue\n-1.000,5\n0.000,\n"}
	for _, name := range []string{SummaryFile, SamplesFile, HistogramsFile} {
		texts[name] = unpacked(f, filepath.Join(dir, name))
	}
	return texts
}

const benchText = `{"schema":4,"kind":"bench","status":"done","median":"run-1",` +
	`"runs":[{"dir":"run-1","counts":true,"opm":5}]}`

// FuzzRead: no record makes the reader panic, whatever its files hold and whichever are missing. An
// input is the files, with a separator between two, and then as many bytes as are cut off the ends
// of the compressed ones.
func FuzzRead(f *testing.F) {
	texts := recordTexts(f)
	for _, name := range []string{SamplesFile, HistogramsFile} {
		texts[name] = beginning(texts[name], 3)
	}
	files := []string{SummaryFile, SamplesFile, HistogramsFile, HostFile}
	const separator = "\x1e"
	record := func(summary, cut string) string {
		return strings.Join(
			[]string{summary, texts[SamplesFile], texts[HistogramsFile], texts[HostFile], cut},
			separator,
		)
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
			assert.NoError(t, os.WriteFile(path, content, 0o644))
		}
		opened, err := Open(dir)
		if err != nil {
			return
		}
		r, ok := opened.(*Record)
		if ok {
			opened = r.Summary
		}
		_, err = json.Marshal(opened)
		assert.NoError(t, err, "a record that was read cannot be written")
		if !ok {
			return
		}
		for _, sample := range r.Series.Samples {
			assert.True(t, sample.Length > 0 && sample.Counts.Orders >= 0, "sample %+v", sample)
		}
		for _, row := range r.Host.Rows {
			assert.Len(t, row.Values, len(r.Host.Columns))
		}
		Merge([]*Record{r, r})
	}, record(texts[SummaryFile], ""), record(strings.Replace(texts[SummaryFile], "done", "running", 1), "123456789"),
		benchText, strings.Replace(benchText, "bench", "experiment", 1))
}

// FuzzHistogram reads any bytes as those of a histogram.
func FuzzHistogram(f *testing.F) {
	raw, err := base64.StdEncoding.DecodeString(series().Intervals[0].Histograms["login"])
	require.NoError(f, err)
	fuzztest.Run(f, func(t testing.TB, raw []byte) {
		measure.CheckHistogram(base64.StdEncoding.EncodeToString(raw))
	}, raw, binary.BigEndian.AppendUint32(nil, 0x1c849314))
}

// beginning is the first n lines of a text.
func beginning(text string, lines int) string {
	return strings.Join(strings.SplitAfter(text, "\n")[:lines], "")
}
