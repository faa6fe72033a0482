package result

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"ds2/internal/atomicfile"
)

// csvFile writes one of the CSV files of a record as the run goes: a line of column names, then
// lines of numbers and names of ours, of which none needs a quote.
type csvFile[T any] struct {
	file *os.File
	csvLines[T]
}

func createCSV[T any](path string, columns []column[T]) (*csvFile[T], error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, created(err)
	}
	f := &csvFile[T]{file, compressed(file, columns)}
	return f, f.Flush()
}

// End ends the file, on disk to the last byte. It can still be read.
func (f *csvFile[T]) End() error { return written(errors.Join(f.end(), f.file.Sync())) }

// Close ends the file and lets go of it; of one that could not be created it does nothing.
func (f *csvFile[T]) Close() error {
	if f == nil {
		return nil
	}
	return errors.Join(f.End(), written(f.file.Close()))
}

// all is the file from its begin, whatever has become of its name.
func (f *csvFile[T]) all() (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(f.file, 0, math.MaxInt64)), nil
}

// csvLines compresses lines, each of which is a T.
type csvLines[T any] struct {
	columns []column[T]
	zip     *gzip.Writer
	text    *bufio.Writer // keeps its first error, for all that follow
}

// compressed begins with the line of the names.
func compressed[T any](w io.Writer, columns []column[T]) csvLines[T] {
	zip, _ := gzip.NewWriterLevel(w, gzip.BestCompression) // fails for other levels only
	l := csvLines[T]{columns, zip, bufio.NewWriter(zip)}
	l.text.WriteString(strings.Join(columnNames(columns), ",") + "\n")
	return l
}

// Write appends a line. A crash of ds2 loses it before the next Flush, in which an error shows too.
func (l csvLines[T]) Write(line *T) error {
	for i, c := range l.columns {
		if i > 0 {
			l.text.WriteByte(',')
		}
		l.text.WriteString(c.text(line))
	}
	return written(l.text.WriteByte('\n'))
}

func (l csvLines[T]) Flush() error { return written(errors.Join(l.text.Flush(), l.zip.Flush())) }

func (l csvLines[T]) end() error { return errors.Join(l.text.Flush(), l.zip.Close()) }

// column is a column of lines that are a T: its name, and how a line has its field.
type column[T any] struct {
	name string
	text func(*T) string
	read func(line *T, text string) error
}

func columnNames[T any](columns []column[T]) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

// Numbers in a record are what can be measured: finite, not negative, and below maxNumber: a
// century in microseconds, a petabyte.
const maxNumber = 1e15

// values is a column of values, which format writes and parse reads.
func values[T, V any](
	name string,
	of func(*T) *V,
	format func(V) string,
	parse func(string) (V, error),
) column[T] {
	return column[T]{
		name,
		func(line *T) string { return format(*of(line)) },
		func(line *T, text string) (err error) {
			*of(line), err = parse(text)
			return err
		},
	}
}

func word[T any, S ~string](name string, of func(*T) *S) column[T] {
	return values(name, of, func(s S) string { return string(s) }, func(text string) (S, error) {
		return S(strings.Clone(text)), nil // of the whole line otherwise
	})
}

func integer[T any, N ~int | ~int64](name string, of func(*T) *N) column[T] {
	return multiples(name, of, 1)
}

// microseconds is a column of times, to the microsecond.
func microseconds[T any](name string, of func(*T) *time.Duration) column[T] {
	return multiples(name, of, time.Microsecond)
}

// multiples is a column of whole multiples of a unit.
func multiples[T any, N ~int | ~int64](name string, of func(*T) *N, unit N) column[T] {
	format := func(n N) string { return strconv.FormatInt(max(0, int64(n/unit)), 10) }
	return values(name, of, format, func(text string) (N, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err == nil && n < 0 {
			err = fmt.Errorf("%d is negative", n)
		}
		if n > maxNumber {
			err = fmt.Errorf("%d cannot have been measured", n)
		}
		return N(n) * unit, err
	})
}

// decimal is a column of numbers with two places.
func decimal[T any](name string, of func(*T) *float64) column[T] {
	return values(name, of, func(f float64) string {
		return strconv.FormatFloat(f, 'f', 2, 64)
	}, number)
}

// seconds is a column of times, to the millisecond.
func seconds[T any](name string, of func(*T) *time.Duration) column[T] {
	return values(name, of, secondsText, func(text string) (time.Duration, error) {
		s, err := number(text)
		if s > maxSeconds {
			return 0, fmt.Errorf("%v s is longer than any run", s)
		}
		return milliseconds(s), err
	})
}

func secondsText(t time.Duration) string { return strconv.FormatFloat(t.Seconds(), 'f', 3, 64) }

func milliseconds(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds*1000)) * time.Millisecond
}

// number reads a number that can have been measured.
func number(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err == nil && !(f >= 0 && f <= maxNumber) {
		err = fmt.Errorf("%v cannot have been measured", f)
	}
	return f, err
}

// reader reads the lines of a file, once it knows the names of its columns.
type reader func(names []string) (line func(fields []string) error, err error)

// lines hands each line to take. All columns must be there, in any order.
func lines[T any](
	names []string,
	columns []column[T],
	take func(T) error,
) (func(fields []string) error, error) {
	at := make([]int, len(columns))
	for i, c := range columns {
		if at[i] = slices.Index(names, c.name); at[i] < 0 {
			return nil, fmt.Errorf("the column %s is missing", c.name)
		}
	}
	return func(fields []string) error {
		var line T
		for i, c := range columns {
			if err := c.read(&line, fields[at[i]]); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
		}
		return take(line)
	}, nil
}

// What a file of a record may come to: far more than a run of weeks writes, and little enough to be
// read into memory.
const (
	maxRows    = 1 << 22              // 48 days of seconds
	maxLine    = 256 << 10            // bytes
	maxSeconds = 10 * 366 * 24 * 3600 // ten years
)

// errCut is in the error of a file of a record that ends before its writer ended it.
var errCut = errors.New("it ends early or its bytes were changed")

func cutBy(err error, path string) error {
	return fmt.Errorf("%s is damaged: %w: %w", path, errCut, err)
}

// readCSV reads a file that csvFile wrote. That of a run that ended is there and whole, to its
// checksum: an error names the file, and has errCut in it where the compressed bytes end early or
// do not fit their checksum. That of a run that is still going, or that was killed, may be missing,
// and what was cut off at its end is left out.
func readCSV(path string, ended bool, read reader) error {
	return readOpen(
		path,
		func() (io.ReadCloser, error) { return atomicfile.Open(path) },
		ended,
		read,
	)
}

// readOpen is readCSV of a file that is opened in another way.
func readOpen(path string, open func() (io.ReadCloser, error), ended bool, read reader) error {
	err := readWhole(path, open, read)
	if err == nil || !ended && (errors.Is(err, errCut) || errors.Is(err, fs.ErrNotExist)) {
		return nil
	}
	return fmt.Errorf("read record: %w", err)
}

func readWhole(path string, open func() (io.ReadCloser, error), read reader) error {
	file, err := open()
	if err != nil {
		return err
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		return cutBy(err, path)
	}
	return readLines(zip, path, maxRows, read)
}

// readLines reads n lines of a file of a record besides that of the names.
func readLines(text io.Reader, path string, most int, read reader) (err error) {
	in := bufio.NewScanner(text)
	in.Buffer(make([]byte, 0, 64<<10), maxLine)
	in.Split(wholeLines)
	var names []string
	var line func(fields []string) error
	for number := 1; in.Scan(); number++ {
		fields := strings.Split(in.Text(), ",")
		switch {
		case number == 1 &&
			len(slices.Compact(slices.Sorted(slices.Values(fields)))) != len(fields):
			err = errors.New("two columns have one name")
		case number == 1:
			names = fields
			line, err = read(names)
		case number > most+1:
			err = fmt.Errorf("has more than %d rows: it was not written by ds2", most)
		case len(fields) != len(names):
			err = fmt.Errorf("has %d fields, not %d", len(fields), len(names))
		default:
			err = line(fields)
		}
		if err != nil {
			return fmt.Errorf("%s line %d: %w", path, number, err)
		}
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf(
			"%s has a line of more than %d bytes: it was not written by ds2",
			path,
			maxLine,
		)
	case err != nil:
		return cutBy(err, path)
	case names == nil:
		return cutBy(io.ErrUnexpectedEOF, path)
	}
	return nil
}

// wholeLines is bufio.ScanLines for files whose last line ends like the others; a part of one is
// not a line.
func wholeLines(data []byte, end bool) (int, []byte, error) {
	if end && len(data) > 0 && !bytes.Contains(data, []byte{'\n'}) {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return bufio.ScanLines(data, end)
}
