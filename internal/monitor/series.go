package monitor

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// Series is a figure over time, oldest first.
type Series []Point

// Point is one reading.
type Point struct {
	Time  time.Time
	Value float64
}

// At is the newest reading at or before t; NaN where that is more than 30 s old.
func (s Series) At(t time.Time) float64 {
	i := sort.Search(len(s), func(i int) bool { return s[i].Time.After(t) })
	if i == 0 || t.Sub(s[i-1].Time) > staleAfter {
		return math.NaN()
	}
	return s[i-1].Value
}

// errNoReading is of a log that a meter has written nothing to, or nothing yet.
var errNoReading = errors.New("it holds no reading")

// ReadMeterLog reads a power meter's log: CSV of time and watts, with or without a line of column names ("time" and
// "watts" then say which columns count), separated by commas, semicolons or tabs. Times are RFC 3339, dates with times
// of day in the zone given, or Unix seconds. A last line without its line end is one that the meter is still writing.
func ReadMeterLog(text []byte, zone *time.Location) (Series, error) {
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	rows := csv.NewReader(bytes.NewReader(text))
	first, _, _ := strings.Cut(string(text), "\n")
	for _, separator := range ";\t" {
		if strings.ContainsRune(first, separator) {
			rows.Comma = separator
		}
	}
	rows.FieldsPerRecord = -1
	rows.TrimLeadingSpace = true

	var s Series
	timeColumn, wattsColumn := 0, 1
	for {
		fields, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		lineNumber, _ := rows.FieldPos(0)
		if lineNumber == 1 {
			if t, w := named(fields, "time"), named(fields, "watts"); t >= 0 && w >= 0 {
				timeColumn, wattsColumn = t, w
				continue
			}
		}
		if len(fields) <= max(timeColumn, wattsColumn) {
			return nil, fmt.Errorf("line %d has %d fields; want time and watts", lineNumber, len(fields))
		}
		t, err := meterTime(strings.TrimSpace(fields[timeColumn]), zone)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", lineNumber, err)
		}
		w, err := strconv.ParseFloat(strings.TrimSpace(fields[wattsColumn]), 64)
		if err != nil {
			return nil, fmt.Errorf("line %d: invalid number of watts %q", lineNumber, fields[wattsColumn])
		}
		s = append(s, Point{t, w})
	}
	if len(s) == 0 {
		return nil, errNoReading
	}
	slices.SortStableFunc(s, func(a, b Point) int { return a.Time.Compare(b.Time) })
	return s, nil
}

func named(fields []string, name string) int {
	return slices.IndexFunc(fields, func(f string) bool { return strings.EqualFold(strings.TrimSpace(f), name) })
}

var meterLayouts = []string{time.RFC3339, "2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006/01/02 15:04:05"}

func meterTime(text string, zone *time.Location) (time.Time, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		whole, part := math.Modf(seconds)
		return time.Unix(int64(whole), int64(part*1e9)), nil
	}
	for _, layout := range meterLayouts {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("invalid time %q: "+
		"write 2026-01-31T13:45:00Z, 2026-01-31 13:45:00 or Unix seconds", text)
}
