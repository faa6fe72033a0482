// Package oracletest computes the figures of records a second time, for tests: from the files of a
// record and arithmetic, by plain loops, as docs/explanation/method.md and docs/reference say. It
// imports nothing of ds2, so that a fault of the kit is not in both.
package oracletest

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// object is a JSON object of a summary.
type object map[string]any

// at is a value deep in an object; nil where any part of the way is missing.
func (o object) at(path ...string) any {
	var v any = map[string]any(o)
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func (o object) text(path ...string) string { s, _ := o.at(path...).(string); return s }

// number is NaN where it is unknown.
func (o object) number(path ...string) float64 {
	if f, ok := o.at(path...).(float64); ok {
		return f
	}
	return math.NaN()
}

func (o object) yes(path ...string) bool { b, _ := o.at(path...).(bool); return b }

func (o object) list(path ...string) (all []object) {
	values, _ := o.at(path...).([]any)
	for _, v := range values {
		m, _ := v.(map[string]any)
		all = append(all, m)
	}
	return all
}

func (o object) texts(path ...string) (all []string) {
	values, _ := o.at(path...).([]any)
	for _, v := range values {
		all = append(all, fmt.Sprint(v))
	}
	return all
}

func readSummary(dir string) (o object, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "summary.json"))
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	return o, err
}

// row is a line of a CSV file, with the names of its columns.
type row struct{ columns, cells []string }

func readRows(path string) (rows []row, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	all, err := csv.NewReader(zip).ReadAll()
	for i := 1; i < len(all); i++ {
		rows = append(rows, row{all[0], all[i]})
	}
	return rows, err
}

// text is empty where there is no such column.
func (r row) text(column string) string {
	if i := slices.Index(r.columns, column); i >= 0 {
		return r.cells[i]
	}
	return ""
}

// covers is how many seconds a counter of the row stands for: "30x1 4x3" has those of 30 counters,
// which stand between the time and this, and of 4 more.
func (r row) covers(column string) float64 {
	place := slices.Index(r.columns, column) // 1 of the first counter
	for _, run := range strings.Fields(r.text("covers_s")) {
		count, seconds, _ := strings.Cut(run, "x")
		n, _ := strconv.Atoi(count)
		each, _ := strconv.ParseFloat(seconds, 64)
		if place -= n; place <= 0 {
			return each
		}
	}
	return 1
}

// number is NaN where it is unknown.
func (r row) number(column string) float64 {
	f, err := strconv.ParseFloat(r.text(column), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

// millis is a time of a record.
func millis(seconds float64) int64 { return int64(math.Round(seconds * 1000)) }

// histogram counts values by the highest microsecond of their bar.
type histogram struct {
	counts []int64 // by index
	total  int64
}

func (h *histogram) add(o histogram) {
	h.counts = append(h.counts, make([]int64, max(0, len(o.counts)-len(h.counts)))...)
	for i, n := range o.counts {
		h.counts[i] += n
	}
	h.total += o.total
}

// highest is the upper bound of a bar in microseconds. Two significant digits take 256 bars of 1
// µs, and then 128 for each doubling.
func highest(i int) int64 {
	if i < 256 {
		return int64(i)
	}
	return int64(i%128+129)<<(i/128-1) - 1
}

// quantile is the value that a share of all does not exceed, to the nearest of them.
func (h histogram) quantile(share float64) float64 {
	rank := max(1, int64(math.Floor(share*float64(h.total)+.5)))
	var n int64
	for i, count := range h.counts {
		if n += count; n >= rank {
			return float64(highest(i)) / 1000
		}
	}
	return math.NaN()
}

// decode reads HdrHistogram's V2 encoding, compressed, in base64: big-endian words of 4 and 8
// bytes, and zigzag LEB128 counts, of which one below zero is a number of empty bars.
func decode(text string) (h histogram, err error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) < 8 || binary.BigEndian.Uint32(b) != 0x1c849314 {
		return h, fmt.Errorf("no compressed histogram: %x, %v", b[:min(4, len(b))], err)
	}
	zip, err := zlib.NewReader(bytes.NewReader(b[8:]))
	if err != nil {
		return h, err
	}
	b, err = io.ReadAll(zip)
	if len(b) < 40 || binary.BigEndian.Uint32(b)&^0xf0 != 0x1c849303 {
		return h, fmt.Errorf("no histogram of version 2: %v", err)
	}
	if digits := binary.BigEndian.Uint32(b[12:]); digits != 2 {
		return h, fmt.Errorf("a histogram with %d digits", digits)
	}
	counts := b[40 : 40+binary.BigEndian.Uint32(b[4:])]
	for len(counts) > 0 {
		v, n := binary.Varint(counts)
		if n <= 0 {
			return h, fmt.Errorf("a histogram that ends early")
		}
		counts = counts[n:]
		if v < 0 {
			h.counts = append(h.counts, make([]int64, -v)...)
			continue
		}
		h.counts = append(h.counts, v)
		h.total += v
	}
	return h, nil
}
