package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// holds fails unless dir holds these files with these contents, and nothing else.
func holds(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if got, err := os.ReadFile(filepath.Join(dir, e.Name())); err != nil || string(got) != want[e.Name()] {
			t.Errorf("%s holds %q, %v; want %q", e.Name(), got, err, want[e.Name()])
		}
	}
	if len(entries) != len(want) {
		t.Errorf("%d files, want %d", len(entries), len(want))
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for _, content := range []string{"one", "", "two"} {
		if err := Write(path, text(content)); err != nil {
			t.Fatal(err)
		}
		holds(t, dir, map[string]string{"a": content})
	}
	created := filepath.Join(t.TempDir(), "created")
	if err := os.WriteFile(created, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(created)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.Stat(path); err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v, %v; want %v as the user's mask has it", got.Mode(), err, want.Mode())
	}
}

// A writer that fails leaves the old file, or none, and nothing else.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	if err := Write(filepath.Join(dir, "old"), text("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	for _, name := range []string{"old", "new"} {
		err := Write(filepath.Join(dir, name), func(w io.Writer) error {
			return errors.Join(text("half")(w), broken)
		})
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), filepath.Join(dir, name)) {
			t.Errorf("error %v", err)
		}
	}
	holds(t, dir, map[string]string{"old": "old"})

	if err := os.MkdirAll(filepath.Join(dir, "taken", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "taken"), text("new")); err == nil {
		t.Error("a directory was replaced by a file")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*"+suffix)); left != nil {
		t.Errorf("%v are left", left)
	}
	if err := Write(filepath.Join(dir, "missing", "a"), text("a")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: error %v", err)
	}
}

// Until Commit the old file stands; Abort leaves it.
func TestCommitAndAbort(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	for _, commit := range []bool{false, true} {
		f, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if target, ok := Target(filepath.Base(f.Name())); target != "a" || !ok {
			t.Errorf("Target(%q) = %q, %v", f.Name(), target, ok)
		}
		io.WriteString(f, "new")
		if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
			t.Errorf("before the end: %q, %v", got, err)
		}
		if !commit {
			f.Abort()
			holds(t, dir, map[string]string{"a": "old"})
			continue
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		holds(t, dir, map[string]string{"a": "new"})
	}
}

// A link planted at a guessed temporary name, or at the path itself, is not written through.
func TestLinksAreNotFollowed(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "a.tmp", "a.partial"} {
		if err := os.Symlink(victim, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := Write(filepath.Join(dir, "a"), text("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(victim); err != nil || string(got) != "precious" {
		t.Errorf("the link's target holds %q, %v", got, err)
	}
	if got, err := os.Lstat(filepath.Join(dir, "a")); err != nil || !got.Mode().IsRegular() {
		t.Errorf("the file has mode %v, %v", got.Mode(), err)
	}
}

func TestTarget(t *testing.T) {
	for _, c := range []struct {
		name, target string
		ok           bool
	}{
		{"prod.csv.ABCDEFGHIJKLMNOPQRSTUVWXYZ.partial", "prod.csv", true},
		{"prod.csv.partial", "prod.csv", true}, // of an earlier version
		{"prod.csv", "", false},
		{".partial", "", false},
	} {
		if target, ok := Target(c.name); target != c.target || ok != c.ok {
			t.Errorf("Target(%q) = %q, %v; want %q, %v", c.name, target, ok, c.target, c.ok)
		}
	}
}

func TestRemoveLeft(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "run", "summary.json")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(path); err != nil { // and is killed
		t.Fatal(err)
	}
	if err := RemoveLeft(dir); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 || entries[0].Name() != "summary.json" {
		t.Errorf("%v, %v are there, want the summary alone", entries, err)
	}
}
