package result

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// hourly writes one of the CSV files of a record as the run goes. The file holds the hour under way; when that is over,
// it starts again, and the hour lies beside it: samples-001.csv.gz is the first of samples.csv.gz. Each has the line of
// column names. Times count from the first orders.
type hourly struct {
	path    string
	columns []string
	hours   int // that are over

	file *os.File
	zip  *gzip.Writer
	csv  *csv.Writer
}

func createHourly(path string, columns []string) (*hourly, error) {
	f := &hourly{path: path, columns: columns}
	if err := f.open(); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *hourly) open() (err error) {
	if f.file, err = os.Create(f.path); err != nil {
		return err
	}
	if f.zip, err = gzip.NewWriterLevel(f.file, gzip.BestCompression); err != nil {
		return err
	}
	f.csv = csv.NewWriter(f.zip)
	f.csv.Write(f.columns) // an error stays and shows in flush
	return f.flush()
}

// write appends a line of time t, and keeps nothing of fields. A crash of ds2 loses it before the next flush.
func (f *hourly) write(t time.Duration, fields []string) error {
	if t > time.Duration(f.hours+1)*time.Hour {
		if err := f.turnOver(); err != nil {
			return err
		}
	}
	return f.csv.Write(fields)
}

// flush hands the operating system what was written.
func (f *hourly) flush() error {
	f.csv.Flush()
	return errors.Join(f.csv.Error(), f.zip.Flush())
}

// turnOver puts the hour that is over beside the file, and begins the next.
func (f *hourly) turnOver() error {
	if err := f.close(); err != nil {
		return err
	}
	f.hours++
	if err := os.Rename(f.path, hourPath(f.path, fmt.Sprintf("%03d", f.hours))); err != nil {
		return err
	}
	return f.open()
}

// close ends the file, on disk to the last byte.
func (f *hourly) close() error {
	return errors.Join(f.flush(), f.zip.Close(), f.file.Sync(), f.file.Close())
}

// hourPath is where an hour of the file at path lies.
func hourPath(path, hour string) string {
	return strings.TrimSuffix(path, ".csv.gz") + "-" + hour + ".csv.gz"
}

// What a file of a record may come to: far more than a run of weeks writes, and little enough to be read into memory.
const (
	maxRows = 1 << 22   // 48 days of seconds
	maxLine = 256 << 10 // bytes
)

// CutError says that a file of a record ends before its writer ended it.
type CutError struct {
	Path string
	Err  error
}

func (e *CutError) Error() string {
	return fmt.Sprintf("%s is damaged: it ends early or its bytes were changed: %v", e.Path, e.Err)
}

func (e *CutError) Unwrap() error { return e.Err }

// hoursOf is how many hours of the file at path are over. A pattern would not do: a directory's name may hold what has a meaning there.
func hoursOf(path string) (n int, err error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	before, after, _ := strings.Cut(filepath.Base(hourPath(path, "*")), "*")
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), before) && strings.HasSuffix(e.Name(), after) {
			n++
		}
	}
	return n, err
}

// readHourly reads a file that hourly wrote: the hours that were over first. For each of them it calls begin with the
// names of the columns, and what that returns with the fields of every whole line. The file of a run that ended is there
// and whole, to its checksum. Of a run that is still going, or that was killed, it may be missing, and what was cut off at
// its end is left out; the hours that were over are whole even then.
func readHourly(path string, ended bool, begin func(columns []string) (line func(fields []string) error, err error)) error {
	hours, err := hoursOf(path)
	if err != nil {
		return err
	}
	rows := maxRows
	for hour := range hours {
		if err := readCSV(hourPath(path, fmt.Sprintf("%03d", hour+1)), &rows, begin); err != nil {
			return err
		}
	}
	err = readCSV(path, &rows, begin)
	var cut *CutError
	if !ended && (errors.As(err, &cut) || errors.Is(err, fs.ErrNotExist)) {
		return nil
	}
	return err
}

// readCSV reads one file of at most so many rows, and takes off those that it had. An error names the file; it is a
// CutError where the compressed bytes end early or do not fit their checksum.
func readCSV(path string, rows *int, begin func(columns []string) (func(fields []string) error, error)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if err != nil {
		return &CutError{path, err}
	}
	return readLines(zip, path, rows, begin)
}

// readLines reads the lines of a file of a record.
func readLines(text io.Reader, path string, rows *int, begin func(columns []string) (func(fields []string) error, error)) (err error) {
	in := bufio.NewScanner(text)
	in.Buffer(make([]byte, 0, 64<<10), maxLine)
	in.Split(wholeLines)
	var columns []string
	var line func(fields []string) error
	for number := 1; in.Scan(); number++ {
		fields := strings.Split(in.Text(), ",") // numbers and names of ours: nothing is quoted
		switch {
		case number == 1:
			columns = fields
			if len(index(columns)) != len(columns) {
				err = errors.New("two columns have one name")
			} else {
				line, err = begin(columns)
			}
		case *rows == 0:
			err = fmt.Errorf("has more than %d rows with those before it: it was not written by ds2", maxRows)
		case len(fields) != len(columns):
			err = fmt.Errorf("has %d fields, not %d", len(fields), len(columns))
		default:
			*rows--
			err = line(fields)
		}
		if err != nil {
			return fmt.Errorf("%s line %d: %w", path, number, err)
		}
	}
	switch err := in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%s has a line of more than %d bytes: it was not written by ds2", path, maxLine)
	case err != nil:
		return &CutError{path, err}
	case columns == nil:
		return &CutError{path, io.ErrUnexpectedEOF}
	}
	return nil
}

// wholeLines is bufio.ScanLines for files whose last line ends like the others; a part of one is not a line.
func wholeLines(data []byte, end bool) (int, []byte, error) {
	if end && len(data) > 0 && !bytes.Contains(data, []byte{'\n'}) {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return bufio.ScanLines(data, end)
}
