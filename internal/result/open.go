package result

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"

	"ds2/internal/atomicfile"
)

// Kind says what a record is of.
type Kind string

// The kinds. All but a run have runs in separate directories beside their summary.
const (
	KindRun        Kind = "run"
	KindBench      Kind = "bench"
	KindExperiment Kind = "experiment"
	KindSearch     Kind = "search"
)

// A is the kind with its article: "an experiment".
func (k Kind) A() string { return withArticle(string(k)) }

// Head begins each summary.json.
type Head struct {
	Schema int  `json:"schema"`
	Kind   Kind `json:"kind"`
	// of the text of the summary, with zeros in its place
	Sum string `json:"sum,omitempty"`
}

func (h *Head) head() *Head { return h }

// A record without runs beside it has nothing to seal; a run's files are checked where they are
// read.
func (*Head) seal(string) error      { return nil }
func (*Head) checkSums(string) error { return nil }

// summary is one of the structs that a summary.json holds.
type summary[T any] interface {
	*T
	head() *Head
	kind() Kind
	check() error
	seal(dir string) error      // notes the sums of what stands beside it in dir
	checkSums(dir string) error // holds them against it
}

func (*Summary) kind() Kind    { return KindRun }
func (*Bench) kind() Kind      { return KindBench }
func (*Experiment) kind() Kind { return KindExperiment }
func (*Search) kind() Kind     { return KindSearch }

// ErrNone says that a directory holds no record, or one of another kind.
var ErrNone = errors.New("no such record")

// none says so in its own words.
type none struct{ error }

// NoRecord says ErrNone in these words.
func NoRecord(text string) error { return none{errors.New(text)} }

func (none) Is(target error) bool { return target == ErrNone }

// Open reads the record in dir, whatever it is of: a *Record, a Bench, an Experiment or a Search.
func Open(dir string) (any, error) {
	head, _, err := readHead(dir)
	if err != nil {
		return nil, err
	}
	switch head.Kind {
	case KindRun:
		return Read(dir)
	case KindBench:
		return ReadSummary[Bench](dir)
	case KindExperiment:
		return ReadSummary[Experiment](dir)
	case KindSearch:
		return ReadSummary[Search](dir)
	}
	return nil, fmt.Errorf("read record: %s is the record of %q, which this ds2 does not know", dir,
		head.Kind)
}

// ReadSummary reads the summary.json in dir, which is to be of the kind that T is of. ErrNone is in
// the error where it is not, or is not there.
func ReadSummary[T any, P summary[T]](dir string) (T, error) {
	s := P(new(T))
	head, text, err := readHead(dir)
	switch {
	case err != nil:
		return *s, err
	case head.Kind != s.kind() && s.kind() == KindRun:
		return *s, none{fmt.Errorf(
			"read record: %s is the record of %s: name one of the directories in it",
			dir, head.Kind.A())}
	case head.Kind != s.kind():
		return *s, none{fmt.Errorf("read record: %s is the record of %s, not of %s", dir,
			head.Kind.A(), s.kind().A())}
	}
	lifted, err := lift(text, head.Schema)
	if err == nil {
		err = decode(lifted, s)
	}
	if err == nil { // what is odd says more than that somebody changed it
		err = cmp.Or(s.check(), checkSeal(text, head.Sum))
	}
	if err != nil {
		return *s, fmt.Errorf("read record: %s: %w", filepath.Join(dir, SummaryFile), err)
	}
	s.head().Sum = ""
	return *s, s.checkSums(dir)
}

// SaveSummary writes summary.json of the record in dir, whole or not at all. Its sums are of what
// stands in dir by then: whoever ends the record's files does that before.
func SaveSummary[T any, P summary[T]](dir string, s T) error {
	p := P(&s)
	*p.head() = Head{Schema, p.kind(), unsealed}
	err := p.seal(dir)
	text, jsonErr := json.MarshalIndent(p, "", "  ")
	if err = cmp.Or(err, jsonErr); err != nil {
		return written(err)
	}
	return written(atomicfile.Write(filepath.Join(dir, SummaryFile), func(w io.Writer) error {
		_, err := w.Write(sealText(append(text, '\n')))
		return err
	}))
}

// readHead reads what kind of record dir holds, and the text of its summary. It decodes no more
// than it needs for that: a later version of ds2 may have written anything into the rest.
func readHead(dir string) (head Head, text []byte, err error) {
	path := filepath.Join(dir, SummaryFile)
	text, err = atomicfile.Read(path, maxJSON)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return head, nil, none{fmt.Errorf("read record: %s is not a record: it has no %s; "+
			"name a directory that a run, a bench, an experiment or a search wrote", dir, SummaryFile)}
	case err != nil:
		return head, nil, fmt.Errorf("read record: %w", err)
	}
	var written struct {
		Head
		Version string `json:"kit_version"` // of an experiment
		Spec    struct {
			Version string `json:"kit_version"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(text, &written); err != nil {
		return head, nil, fmt.Errorf("read record: %s: %w", path, err)
	}
	head = written.Head
	switch {
	case head.Schema > Schema:
		version := cmp.Or(written.Version, written.Spec.Version, "of an unknown version")
		return head, nil, &NewerError{dir, head.Schema, version}
	case head.Schema < OldestSchema:
		return head, nil, fmt.Errorf(
			"read record: %s has schema %d, which was never released: use the ds2 that wrote it",
			dir, head.Schema)
	}
	return head, text, nil
}

// maxJSON is the most that a summary is read of: that of a run has a few kilobytes.
const maxJSON = 64 << 20

// decode reads JSON into v, and refuses numbers that cannot have been measured.
func decode(text []byte, v any) error {
	if err := json.Unmarshal(text, v); err != nil {
		return err
	}
	return checkNumbers(reflect.ValueOf(v), "")
}
