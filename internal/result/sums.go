package result

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"ds2/internal/atomicfile"
)

// A summary.json has the SHA-256 of itself, computed with zeros in the place of that sum, and those
// of the files beside it; that of a bench has one of each of its runs. So a file that was edited,
// or that comes from another run, is told from the one that was written. An absent sum, as of an
// older ds2, is not checked.

// sealed is the begin of the text of a summary, with its sum.
var sealed = regexp.MustCompile(`^\{\s*"schema": \d+,\s*"kind": "\w+",\s*"sum": "([0-9a-f]{64})"`)

var unsealed = strings.Repeat("0", 2*sha256.Size)

// sealText puts the sum of a summary's text in its place.
func sealText(text []byte) []byte {
	if at := sealed.FindSubmatchIndex(text); at != nil {
		copy(text[at[2]:], sumOf(text))
	}
	return text
}

// checkSeal is an error where the text of a summary does not have the sum that is said in it. It
// changes the text.
func checkSeal(text []byte, said string) error {
	if at := sealed.FindSubmatchIndex(text); at != nil {
		copy(text[at[2]:], unsealed)
	}
	if said != "" && sumOf(text) != said {
		return errors.New("it was changed after ds2 wrote it: its sum is another")
	}
	return nil
}

func sumOf(text []byte) string {
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// summedFiles are those of a run's record whose sums its summary has.
var summedFiles = []string{SamplesFile, HistogramsFile, SlowestFile, HostFile}

// sumFiles are the sums of the files of the record in dir, by name, of those that are there.
func sumFiles(dir string) (map[string]string, error) {
	sums := map[string]string{}
	for _, name := range summedFiles {
		file, err := atomicfile.Open(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		sum := sha256.New()
		_, err = io.Copy(sum, file)
		file.Close()
		if err != nil {
			return nil, err
		}
		sums[name] = fmt.Sprintf("%x", sum.Sum(nil))
	}
	return sums, nil
}

// checkFiles is an error where the files of the record in dir are not those that its summary was
// written with.
func (s *Summary) checkFiles(dir string) error {
	if s.Sums == nil {
		return nil
	}
	sums, err := sumFiles(dir)
	if err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	for _, name := range summedFiles {
		path := filepath.Join(dir, name)
		switch sums[name] {
		case s.Sums[name]:
		case "":
			return fmt.Errorf("read record: %s is gone, which the run wrote", path)
		default:
			return fmt.Errorf("read record: %s is not the file that the run wrote: "+
				"it was changed, or is another run's", path)
		}
	}
	return nil
}

// seal notes the sums of the files of the record in dir, once they are whole.
func (s *Summary) seal(dir string) (err error) {
	if s.Sums = nil; s.Status != Running {
		s.Sums, err = sumFiles(dir)
	}
	return err
}

// sum is that of what the run measured, whatever was concluded from it and audited later: ds2
// verify writes its audit into the summary of a run whose bench has been written. It is empty where
// the sums of its files are unknown.
func (s *Summary) sum() string {
	if s.Sums == nil {
		return ""
	}
	text := s.RunID + s.Start.UTC().String()
	for _, name := range slices.Sorted(maps.Keys(s.Sums)) {
		text += name + s.Sums[name]
	}
	return sumOf([]byte(text))
}

// seal notes the sums of the runs of the bench in dir.
func (b *Bench) seal(dir string) error {
	b.Runs = slices.Clone(b.Runs)
	for i := range b.Runs {
		r := &b.Runs[i]
		if s, err := ReadSummary[Summary](filepath.Join(dir, r.Dir)); err == nil {
			r.RunID = s.RunID
			r.Sum = s.sum()
		}
	}
	return nil
}

// checkSums is an error where the runs of the bench in dir are not those that it was written with.
// One whose record is gone is missed where it is read.
func (b *Bench) checkSums(dir string) error {
	for _, r := range b.Runs {
		if r.Sum == "" {
			continue
		}
		path := filepath.Join(dir, r.Dir)
		s, err := ReadSummary[Summary](path)
		switch {
		case errors.Is(err, ErrNone):
			continue
		case err != nil:
			return err
		case s.sum() != r.Sum:
			return fmt.Errorf("read record: %s holds the run %s that began at %s, "+
				"which is not the one that the bench made there",
				path, s.RunID, s.Start.UTC().Format(time.RFC3339))
		}
	}
	return nil
}
