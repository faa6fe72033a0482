package result

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"reflect"
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
	file, err := os.Create(path)
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

// csvLines compresses lines, each of which is a T.
type csvLines[T any] struct {
	columns []column[T]
	zip     *gzip.Writer
	text    *bufio.Writer // keeps its first error, for all that follow
}

// compressed begins with the line of the names.
func compressed[T any](w io.Writer, columns []column[T]) csvLines[T] {
	// A line a second takes no time to speak of, and records are kept for years.
	zip, _ := gzip.NewWriterLevel(w, gzip.BestCompression) // fails for other levels only
	l := csvLines[T]{columns, zip, bufio.NewWriter(zip)}
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	l.text.WriteString(strings.Join(names, ",") + "\n")
	return l
}

// Write appends a line. A crash of ds2 loses it before the next Flush, in which an error shows too:
// each flush ends a block of the compressed text, so they are as rare as the record's intervals.
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

// Numbers in a record are what can be measured: finite, not negative, and below maxNumber: a
// century in microseconds, a petabyte.
const maxNumber = 1e15

// columnsOf are the columns of the fields of a T that have the tag csv, which names them.
func columnsOf[T any]() []column[T] { return columnsIn[T](reflect.TypeFor[T](), nil) }

// columnsIn are those of a struct in a T, which lies there at a place.
func columnsIn[T any](in reflect.Type, at []int) (all []column[T]) {
	for field := range in.Fields() {
		place := append(slices.Clip(at), field.Index...)
		name, named := field.Tag.Lookup("csv")
		switch {
		case named:
			all = append(all, newColumn(name, func(line *T) reflect.Value {
				return reflect.ValueOf(line).Elem().FieldByIndex(place)
			}))
		case field.Type.Kind() == reflect.Struct:
			all = append(all, columnsIn[T](field.Type, place)...)
		}
	}
	return all
}

// unitsOf are those of times, by the end of a column's name; nanoseconds where it has none.
var unitsOf = map[string]time.Duration{"s": time.Second, "us": time.Microsecond}

// newColumn is one of a field: of a word, of a number with two places, of a time in seconds, to the
// millisecond, or of a whole number, which a time in another unit is too.
func newColumn[T any](name string, of func(*T) reflect.Value) column[T] {
	unit := max(1, unitsOf[name[strings.LastIndex(name, "_")+1:]])
	text := func(line *T) string {
		switch v := of(line); {
		case v.Kind() == reflect.String:
			return v.String()
		case v.Kind() == reflect.Float64:
			return fmt.Sprintf("%.2f", v.Float())
		case unit == time.Second:
			return secondsText(time.Duration(v.Int()))
		default:
			return strconv.FormatInt(max(0, v.Int()/int64(unit)), 10)
		}
	}
	return column[T]{name, text, func(line *T, text string) error {
		v := of(line)
		if v.Kind() == reflect.String {
			v.SetString(strings.Clone(text)) // of the whole line otherwise
			return nil
		}
		n, err := number(text)
		switch {
		case v.Kind() == reflect.Float64:
			v.SetFloat(n)
		case unit == time.Second && n > maxSeconds:
			err = cmp.Or(err, fmt.Errorf("%v s is longer than any run", n))
		case unit == time.Second:
			v.SetInt(int64(milliseconds(n)))
		default:
			whole, wholeErr := strconv.ParseInt(text, 10, 64)
			v.SetInt(whole * int64(unit))
			err = cmp.Or(err, wholeErr)
		}
		return err
	}}
}

func secondsText(t time.Duration) string { return fmt.Sprintf("%.3f", t.Seconds()) }

func milliseconds(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds*1000)) * time.Millisecond
}

// number reads a number that can have been measured.
func number(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
	case f < 0:
		err = fmt.Errorf("%v is negative", f)
	case !(f <= maxNumber): // also of what is no number
		err = fmt.Errorf("%v cannot have been measured", f)
	}
	return f, err
}

// reader reads the lines of a file, once it knows the names of its columns.
type reader func(names []string) (line func(fields []string) error, err error)

// lines hands each line to take. All columns must be there, in any order.
func lines[T any](columns []column[T], take func(T) error) reader {
	return func(names []string) (func([]string) error, error) {
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
}

// What a file of a record may come to: far more than a run of weeks writes, and little enough to be
// read into memory.
const (
	maxRows    = 1 << 22              // 48 days of seconds
	maxLine    = 256 << 10            // bytes
	maxSeconds = 10 * 366 * 24 * 3600 // ten years
)

// errCut is in the error of a file of a record that ends before its writer ended it.
var errCut = errors.New(
	"it ends early or its bytes were changed: copy the record again from where ds2 wrote it")

func cutBy(err error, path string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // errCut says as much
		return fmt.Errorf("%s is damaged: %w", path, errCut)
	}
	return fmt.Errorf("%s is damaged: %w: %w", path, err, errCut)
}

// opener opens a file of a record.
type opener func(path string) (io.ReadCloser, error)

// openFile opens one that lies on disk.
var openFile opener = func(path string) (io.ReadCloser, error) { return atomicfile.Open(path) }

// read reads a file that csvFile wrote. That of a run that ended is there and whole, to its
// checksum: an error names the file, and has errCut in it where the compressed bytes end early or
// do not fit their checksum. That of a run that is still going, or that was killed, may be missing,
// and what was cut off at its end is left out.
func (open opener) read(path string, ended bool, read reader) error {
	err := open.readWhole(path, read)
	if err == nil || !ended && (errors.Is(err, errCut) || errors.Is(err, fs.ErrNotExist)) {
		return nil
	}
	return fmt.Errorf("read record: %w", err)
}

func (open opener) readWhole(path string, read reader) error {
	file, err := open(path)
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

// readLines reads so many lines of a file of a record at most, besides that of the names. A line
// that does not end is none: a crash cut it off, and what is left of a number is another number.
func readLines(from io.Reader, path string, most int, read reader) error {
	in := bufio.NewReaderSize(from, maxLine)
	var names []string
	var line func(fields []string) error
	for number := 1; ; number++ {
		text, err := in.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			return fmt.Errorf("%s has a line of more than %d bytes: it was not written by ds2",
				path, maxLine)
		case err == io.EOF && len(text) == 0 && number > 1:
			return nil
		case err != nil:
			return cutBy(err, path)
		}
		fields := strings.Split(strings.TrimRight(string(text), "\r\n"), ",")
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
}
