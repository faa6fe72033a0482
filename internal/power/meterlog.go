package power

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"ds2/internal/outside"
	"ds2/internal/sampling"
)

// CheckMeterLog refuses a meter's log that cannot be read. It may hold no reading yet.
func CheckMeterLog(file string) error {
	if file == "" {
		return nil
	}
	text, err := readPowerLog(file)
	if err != nil {
		return err
	}
	_, _, err = ReadMeterLog(text, time.Now(), time.Local)
	if err == nil || errors.Is(err, errNoReading) || errors.Is(err, errUndecided) {
		return nil
	}
	return fmt.Errorf("read power log %s: %w", file, err)
}

// readPowerLog reads a meter's log, which may lie on a share that does not answer.
func readPowerLog(path string) ([]byte, error) {
	ctx, cancel := outside.Within(context.Background(), outside.Answer)
	defer cancel()
	return outside.ReadFile(ctx, path, outside.MaxLog)
}

// Fill puts into the samples of a run what the meter's log in a file says. It tells whether there
// is one, and what the log lacks: that is never a fault of the run. It can be called again when the
// log has arrived later.
func Fill(file string, t *sampling.Table, from, to time.Time) (filled bool, lacks string) {
	if file == "" {
		return false, ""
	}
	log := "power log " + file
	text, err := readPowerLog(file)
	if err != nil {
		return false, fmt.Sprintf("%s: %v", log, err)
	}
	readings, left, err := ReadMeterLog(text, from, time.Local)
	if err != nil {
		return false, fmt.Sprintf("%s: %v", log, err)
	}
	t.Set(sampling.Power, readings)
	var gaps []string
	begin := readings[0].Time
	end := readings[len(readings)-1].Time
	if begin.After(from.Add(sampling.StaleAfter)) || end.Before(to.Add(-sampling.StaleAfter)) {
		gaps = append(gaps,
			fmt.Sprintf("it covers %s, the run %s", formatSpan(begin, end), formatSpan(from, to)))
	}
	if left > 0 {
		gaps = append(gaps, fmt.Sprintf("rows without a reading, left out: %d", left))
	}
	if gaps == nil {
		return true, ""
	}
	return true, log + ": " + strings.Join(gaps, "; ")
}

// formatSpan writes a span in the machine's zone, in which most meters write too.
func formatSpan(from, to time.Time) string {
	return from.Local().Format(time.DateTime) + " to " + to.Local().Format(time.DateTime)
}

// errNoReading is of a log that a meter has written nothing to, or nothing yet.
var errNoReading = errors.New("it holds no reading")

// errUndecided is of dates such as 3/4/2026 in a log of which both readings are possible.
var errUndecided = errors.New(
	"its dates can be month/day or day/month, and neither is near the run: " +
		"write them as 2026-01-31")

// ReadMeterLog reads what power meters and their loggers write: rows of a time and watts, separated
// by commas, semicolons, tabs or blanks, with or without a row of column names, or with each name
// before its value as PTDaemon writes. A time without a zone is in the one given; of the two orders
// of day and month the one counts that fits more rows, or else the one near the run. Left are the
// rows without a reading. A last line without its line end is one that the meter is still writing.
func ReadMeterLog(
	text []byte,
	near time.Time,
	zone *time.Location,
) (s sampling.Series, left int, err error) {
	rows, separator := meterRows(text)
	read := func(dayFirst bool) (sampling.Series, int, error) {
		r := meterReader{zone: zone, decimalComma: separator != ",", dayFirst: dayFirst}
		return r.readRows(rows)
	}
	s, left, err = read(false)
	other, otherLeft, otherErr := read(true)
	isNear := func(s sampling.Series) bool {
		return slices.ContainsFunc(s, func(p sampling.Point) bool {
			return p.Time.Sub(near).Abs() < 24*time.Hour
		})
	}
	switch {
	case left < otherLeft || slices.Equal(s, other):
		return s, left, err
	case otherLeft < left, isNear(other) && !isNear(s):
		return other, otherLeft, otherErr
	case isNear(other) == isNear(s):
		return nil, 0, errUndecided
	}
	return s, left, err
}

// meterRows takes text apart, a row of fields a line: nil where that is a comment, empty or told to
// a spreadsheet.
func meterRows(text []byte) (rows [][]string, separator string) {
	lines := strings.Split(string(text), "\n")
	// What follows the last line end is nothing, or a line that the meter is still writing.
	lines = lines[:len(lines)-1]
	in := map[string]int{} // lines by what separates their fields
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if s, told := strings.CutPrefix(strings.ToLower(line), "sep="); told {
			separator = strings.TrimSpace(s)
			line = ""
		} else if strings.HasPrefix(line, "#") {
			line = ""
		}
		lines[i] = line
		// The empty text is in every line, so that in[""] counts those that say anything.
		for _, s := range []string{"", ";", "\t", ","} {
			if line != "" && strings.Contains(line, s) {
				in[s]++
			}
		}
	}
	for _, s := range []string{";", "\t", ","} {
		if separator == "" && in[s] > 0 && in[s] >= in[""]/2 {
			separator = s
		}
	}
	rows = make([][]string, len(lines))
	for i, line := range lines {
		if line != "" {
			rows[i] = fieldsOf(line, separator)
		}
	}
	return rows, separator
}

// fieldsOf takes a line apart, without empty fields at its end. Fields that blanks separate have
// any number of these between them.
func fieldsOf(line, separator string) []string {
	if separator == "" {
		separator = " "
		line = strings.Join(strings.Fields(line), separator)
	}
	row := csv.NewReader(strings.NewReader(line))
	row.Comma, _ = utf8.DecodeRuneInString(separator)
	row.LazyQuotes = true
	fields, _ := row.Read()
	for i, f := range fields {
		fields[i] = strings.TrimSpace(f)
	}
	for len(fields) > 0 && fields[len(fields)-1] == "" {
		fields = fields[:len(fields)-1]
	}
	return fields
}

// meterReader reads rows with one order of day and month.
type meterReader struct {
	zone         *time.Location
	decimalComma bool
	dayFirst     bool
	layout       string // of the time before

	times   []int   // columns of the time; nil: by what is in them
	watts   int     // column
	unit    float64 // in watts, of what is in it
	width   int     // of the row of names; 0: names stand before values
	unnamed error   // of a row of other names
}

// readRows takes the rows in their order, as a row of names is of those after it, and gives the
// readings in that of their times. Left is how many rows had none; the error is that of a log
// without any reading.
func (r *meterReader) readRows(rows [][]string) (s sampling.Series, left int, err error) {
	for i, row := range rows {
		if row == nil || r.readNames(i+1, row) {
			continue
		}
		reading, problem := r.readRow(row)
		switch {
		case problem == nil:
			s = append(s, reading)
			continue
		case len(row) > 1 || len(s) > 0: // else it is a title
			left++
		}
		err = cmp.Or(err, fmt.Errorf("line %d: %w", i+1, problem))
	}
	if len(s) == 0 {
		return nil, left, cmp.Or(r.unnamed, err, errNoReading)
	}
	slices.SortStableFunc(s, func(a, b sampling.Point) int { return a.Time.Compare(b.Time) })
	return s, left, nil
}

// timeNames are those of the columns that are the time, alone or together, the best first.
var timeNames = []string{"timestamp", "datetime", "date time", "localtime", "time", "epoch"}

// powerName is that of a column of power, with its unit.
var powerName = regexp.MustCompile(
	`^(?i:(?:active|real|total|input)?power)?([kKm]?[wW](?i:atts?)?)?$`,
)

// mark is all that is not part of a name.
var mark = regexp.MustCompile(`[^\pL\p{Nd}]+`)

// readNames takes the columns from a row of names. A logger that is started again writes it again.
func (r *meterReader) readNames(line int, fields []string) (only bool) {
	var names []string
	var power []int
	unit := 1.
	values := false
	for i, field := range fields {
		name := mark.ReplaceAllString(field, "")
		values = values || strings.IndexFunc(name, unicode.IsDigit) == 0
		if m := powerName.FindStringSubmatch(name); m != nil && name != "" {
			power = append(power, i)
			unit = wattsOf[strings.ToLower(m[1])]
		}
		names = append(names, strings.ToLower(name))
	}
	var times []int
	for _, wanted := range timeNames {
		times = nil
		all := strings.Fields(wanted)
		for _, name := range all {
			if i := slices.Index(names, name); i >= 0 {
				times = append(times, i)
			}
		}
		if len(times) == len(all) {
			break
		}
	}
	switch {
	case times != nil && len(power) == 1:
		r.times = times
		r.watts = power[0]
		r.unit = unit
		r.width = len(names)
		r.unnamed = nil
		if values { // each after its name
			r.times = []int{times[0] + 1}
			r.watts = power[0] + 1
			r.width = 0
		}
		return !values
	case !values && len(names) > 1 && r.times == nil &&
		strings.ContainsFunc(names[0], unicode.IsLetter):
		r.unnamed = fmt.Errorf(
			"line %d: one column of time and one of power are needed, such as Timestamp "+
				"and Power_W; this line names %s", line, strings.Join(fields, ", "))
		return true
	}
	return false
}

// readRow takes time and watts from a row.
func (r *meterReader) readRow(fields []string) (p sampling.Point, err error) {
	switch {
	case r.unnamed != nil:
		return p, r.unnamed
	case r.times == nil:
		return r.unnamedReading(fields)
	case len(fields) <= max(slices.Max(r.times), r.watts), r.width > 0 && len(fields) > r.width:
		return p, fmt.Errorf("it has %d fields, and the row of names another number", len(fields))
	}
	var text []string
	for _, i := range r.times {
		text = append(text, fields[i])
	}
	if p.Time, err = r.parseTime(strings.Join(text, " ")); err == nil {
		p.Value, _, err = r.parsePower(fields[r.watts], r.unit)
	}
	return p, err
}

// unnamedReading takes time and watts from a row by what they look like: the time is first, and of
// several fields after it the watts are those that say so.
func (r *meterReader) unnamedReading(fields []string) (p sampling.Point, err error) {
	if len(fields) < 2 {
		return p, errors.New("1 field; want time and watts")
	}
	for n := min(len(fields)-1, 4); n > 0; n-- {
		if p.Time, err = r.parseTime(strings.Join(fields[:n], " ")); err != nil {
			continue
		}
		if len(fields) == n+1 {
			p.Value, _, err = r.parsePower(fields[n], 1)
			return p, err
		}
		found := 0
		for _, f := range fields[n:] {
			if v, said, err := r.parsePower(f, 1); err == nil && said {
				p.Value = v
				found++
			}
		}
		if found != 1 {
			return p, errors.New(
				"several columns after the time, and no row of names that says which is power")
		}
		return p, nil
	}
	return p, err
}

// parsePower reads a number of watts, or of the unit after it; said tells whether there is one.
func (r *meterReader) parsePower(text string, unit float64) (w float64, said bool, err error) {
	digits := strings.TrimRightFunc(text, unicode.IsLetter)
	if own := text[len(digits):]; own != "" {
		said = true
		unit = wattsOf[own]
	}
	w, ok := r.parseNumber(strings.TrimSpace(digits))
	if !ok || unit == 0 {
		return 0, false, fmt.Errorf("no number of W, kW or mW: %q", text)
	}
	return w * unit, said, checkWatts(w * unit)
}

// parseNumber reads one, whose comma is decimal where commas do not separate fields.
func (r *meterReader) parseNumber(text string) (float64, bool) {
	if r.decimalComma && !strings.Contains(text, ".") {
		text = strings.Replace(text, ",", ".", 1)
	}
	return number(text)
}

// What meters and their loggers write, in Go's form of it, beside Unix times. Of two orders of day
// and month the reader has one.
var (
	meterDates = []string{
		"2006-1-2",
		"2006/1/2",
		"2.1.2006",
		"Jan 2, 2006",
		"2-Jan-2006",
		"2 Jan 2006",
	}
	meterClocks = []string{"15:04:05", "15:04", "3:04:05PM", "3:04PM"}
	meterZones  = []string{"", "Z07:00", "Z0700"}

	monthFirst = meterLayouts("1/2/2006", "1-2-2006")
	dayFirst   = meterLayouts("2/1/2006", "2-1-2006")
)

// meterLayouts are all times that a date, a time of day and a zone make up, with the dates that are
// written in one order of day and month.
func meterLayouts(ordered ...string) (layouts []string) {
	for _, date := range slices.Concat(meterDates, ordered) {
		for _, clock := range meterClocks {
			for _, zone := range meterZones {
				layouts = append(layouts, date+" "+clock+zone)
			}
		}
	}
	return append(layouts, time.ANSIC)
}

// What a time is freed of before it is held against the layouts.
var meterForms = []struct {
	written *regexp.Regexp
	meant   string
}{
	{regexp.MustCompile(`(\d)(?:T|,?\s+)(\d+:)`), "$1 $2"},
	{regexp.MustCompile(`(:\d\d:\d\d):(\d)`), "$1.$2"},  // a part of a second
	{regexp.MustCompile(`\s*([AP])\.?M\b\.?`), "${1}M"}, // of a clock of 12 hours
	{regexp.MustCompile(`\s*(?:UTC|GMT|Z)$`), "Z"},
	{regexp.MustCompile(`(:\d\d.*)\s([-+]\d)`), "$1$2"},
}

// leapSecond is one, or 59.7 rounded.
var leapSecond = regexp.MustCompile(`(:\d\d):60`)

// parseTime reads a date with a time of day, or the time since 1970 in a unit by its size.
func (r *meterReader) parseTime(text string) (time.Time, error) {
	if v, ok := r.parseNumber(text); ok {
		for v >= 1e11 { // the year 5138: so it is in ms, µs or ns
			v /= 1000
		}
		whole, part := math.Modf(v)
		return time.Unix(int64(whole), int64(part*1e9)).UTC(), nil
	}
	written := strings.ToUpper(text)
	form := leapSecond.ReplaceAllString(written, "$1:59")
	leap := time.Duration(0)
	if form != written {
		leap = time.Second
	}
	for _, f := range meterForms {
		form = f.written.ReplaceAllString(form, f.meant)
	}
	layouts := monthFirst
	if r.dayFirst {
		layouts = dayFirst
	}
	for _, layout := range append([]string{r.layout}, layouts...) {
		if t, err := time.ParseInLocation(layout, form, r.zone); err == nil && layout != "" {
			r.layout = layout // which the next row has too
			return t.Add(leap).UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf(
		"invalid time %q: write 2026-01-31T13:45:00Z, 2026-01-31 13:45:00 or Unix seconds", text)
}
