package result

import (
	"bufio"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// hourly writes one of the CSV files of a record as the run goes. The file holds the hour under way; when that is over,
// it goes on anew, and the hour lies beside it: samples-001.csv.gz is the first of samples.csv.gz. Each has the line of
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

// hourPath is where an hour of the file at path lies; * stands for all.
func hourPath(path, hour string) string {
	return strings.TrimSuffix(path, ".csv.gz") + "-" + hour + ".csv.gz"
}

// readHourly reads a file that hourly wrote: the hours that were over first. For each of them it calls begin with the
// names of the columns, and what that returns with the fields of every whole line. A file that is not there, and what a
// crash cut off at the end of one, are left out.
func readHourly(path string, begin func(columns []string) (line func(fields []string) error)) error {
	paths, err := filepath.Glob(hourPath(path, "*"))
	if err != nil {
		return err
	}
	slices.Sort(paths)
	for _, p := range append(paths, path) {
		if err := readCSV(p, begin); err != nil {
			return err
		}
	}
	return nil
}

func readCSV(path string, begin func(columns []string) func(fields []string) error) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	zip, err := gzip.NewReader(file)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil // a crash came before the first line
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	in := bufio.NewReader(zip)
	names, err := in.ReadString('\n')
	if err != nil {
		return nil
	}
	columns, err := csv.NewReader(strings.NewReader(names)).Read()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	line := begin(columns)
	for number := 2; ; number++ {
		text, err := in.ReadString('\n')
		if err != nil {
			return nil // the end, or a line cut short
		}
		fields := strings.Split(strings.TrimSuffix(text, "\n"), ",") // numbers and names of ours: nothing is quoted
		if len(fields) != len(columns) {
			return fmt.Errorf("%s line %d: has %d fields, not %d", path, number, len(fields), len(columns))
		}
		if err := line(fields); err != nil {
			return fmt.Errorf("%s line %d: %w", path, number, err)
		}
	}
}
