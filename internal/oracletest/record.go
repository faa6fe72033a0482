// Package oracletest computes the figures of records a second time, for tests: from the files of a record and
// arithmetic, by plain loops, as docs/explanation/method.md and docs/reference say. It imports nothing of ds2, so that
// a fault of the kit is not in both.
package oracletest

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/HdrHistogram/hdrhistogram-go"
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
type histogram map[int64]int64

func (h histogram) add(o histogram) {
	for bar, n := range o {
		h[bar] += n
	}
}

func (h histogram) total() (sum int64) {
	for _, n := range h {
		sum += n
	}
	return sum
}

// quantile is the value that a share of all does not exceed, to the nearest of them, in milliseconds.
func (h histogram) quantile(share float64) float64 {
	rank := max(1, int64(math.Floor(share*float64(h.total())+.5)))
	for _, bar := range slices.Sorted(maps.Keys(h)) {
		rank -= h[bar]
		if rank <= 0 {
			return float64(bar) / 1000
		}
	}
	return math.NaN()
}

// decode reads a histogram as HdrHistogram writes it.
func decode(text string) (histogram, error) {
	decoded, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		return nil, err
	}
	h := histogram{}
	for _, bar := range decoded.Distribution() {
		if bar.Count > 0 {
			h[bar.To] = bar.Count
		}
	}
	return h, nil
}
