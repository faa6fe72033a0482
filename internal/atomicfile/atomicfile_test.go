package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	require.NoError(t, err)
	for _, e := range entries {
		got, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		assert.Equal(t, want[e.Name()], string(got), e.Name())
	}
	assert.Len(t, entries, len(want))
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for _, content := range []string{"one", "", "two"} {
		require.NoError(t, Write(path, text(content)))
		holds(t, dir, map[string]string{"a": content})
	}
	created := filepath.Join(t.TempDir(), "created")
	require.NoError(t, os.WriteFile(created, nil, 0o666))
	want, err := os.Stat(created)
	require.NoError(t, err)
	got, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, want.Mode(), got.Mode(), "as the user's mask has it")
}

// TestRead refuses what is longer than it may be before it is in memory.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	_, err := Read(path, 3)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, Write(path, text("two")))
	got, err := Read(path, 3)
	require.NoError(t, err)
	require.Equal(t, "two", string(got))
	require.NoError(t, os.Truncate(path, 1<<40))
	_, err = Read(path, 1<<20)
	require.ErrorContains(t, err, path+" has more than 1048576 bytes")
}

// A writer that fails leaves the old file, or none, and nothing else.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(filepath.Join(dir, "old"), text("old")))
	broken := errors.New("broken")
	for _, name := range []string{"old", "new"} {
		err := Write(filepath.Join(dir, name), func(w io.Writer) error {
			return errors.Join(text("half")(w), broken)
		})
		assert.ErrorIs(t, err, broken)
		assert.ErrorContains(t, err, filepath.Join(dir, name))
	}
	holds(t, dir, map[string]string{"old": "old"})

	require.NoError(t, os.MkdirAll(filepath.Join(dir, "taken", "x"), 0o755))
	assert.Error(
		t,
		Write(filepath.Join(dir, "taken"), text("new")),
		"a directory was replaced by a file",
	)
	left, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	require.NoError(t, err)
	assert.Empty(t, left)
	assert.ErrorIs(
		t,
		Write(filepath.Join(dir, "missing", "a"), text("a")),
		os.ErrNotExist,
		"no directory",
	)
}

// Until Commit the old file stands; Abort leaves it.
func TestCommitAndAbort(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	require.NoError(t, Write(path, text("old")))
	for _, commit := range []bool{false, true} {
		f, err := Create(path)
		require.NoError(t, err)
		temporary := filepath.Base(f.Name())
		target, ok := Target(temporary)
		assert.True(t, target == "a" && ok, temporary)
		io.WriteString(f, "new")
		holds(t, dir, map[string]string{"a": "old", temporary: "new"})
		if !commit {
			f.Abort()
			holds(t, dir, map[string]string{"a": "old"})
			continue
		}
		require.NoError(t, f.Commit())
		holds(t, dir, map[string]string{"a": "new"})
	}
}

// TestLinks follows no link at a guessed temporary name or at the path itself, unless it is asked
// to.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	elsewhere := t.TempDir()
	victim := filepath.Join(elsewhere, "victim")
	require.NoError(t, os.WriteFile(victim, []byte("precious"), 0o644))
	for _, name := range []string{"a", "a.tmp", "a.partial"} {
		require.NoError(t, os.Symlink(victim, filepath.Join(dir, name)))
	}
	require.NoError(t, Write(filepath.Join(dir, "a"), text("new")))
	holds(t, elsewhere, map[string]string{"victim": "precious"})

	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(victim, link))
	for path, want := range map[string]string{link: victim, victim: victim, "none": "none"} {
		got, err := Follow(path)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.NoError(t, os.Remove(victim))
	_, err := Follow(link)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestTarget(t *testing.T) {
	for name, want := range map[string]string{ // empty: none
		"prod.csv.ABCDEFGHIJKLMNOPQRSTUVWXYZ.partial": "prod.csv",

		"prod.csv.partial": "",
		"prod.csv":         "",
		".partial":         "",
	} {
		target, ok := Target(name)
		assert.True(
			t,
			ok == (want != "") && (!ok || target == want),
			"%s: %q, %v",
			name,
			target,
			ok,
		)
	}
}

func TestRemoveLeft(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "run"), 0o700))
	path := filepath.Join(dir, "run", "summary.json")
	require.NoError(t, os.WriteFile(path, []byte("{}"), 0o600))
	_, err := Create(path) // and is killed
	require.NoError(t, err)
	require.NoError(t, RemoveLeft(dir))
	holds(t, filepath.Dir(path), map[string]string{"summary.json": "{}"})
}
