package result

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// zipped is an archive of files.
func zipped(t *testing.T, write func(w *zip.Writer)) string {
	t.Helper()
	var text bytes.Buffer
	w := zip.NewWriter(&text)
	write(w)
	require.NoError(t, w.Close())
	path := filepath.Join(t.TempDir(), "run.zip")
	require.NoError(t, os.WriteFile(path, text.Bytes(), 0o600))
	return path
}

func addFile(t *testing.T, w *zip.Writer, h zip.FileHeader, text string) {
	t.Helper()
	h.Method = zip.Deflate
	f, err := w.CreateHeader(&h)
	require.NoError(t, err)
	_, err = f.Write([]byte(text))
	require.NoError(t, err)
}

// TestUnpack: a record lies in its archive with or without the directory that it was packed from,
// and whatever would be written elsewhere, or come to too much, is refused before anything is.
func TestUnpack(t *testing.T) {
	link := zip.FileHeader{Name: "samples.csv.gz"}
	link.SetMode(fs.ModeSymlink | 0o777)
	named := func(names ...string) func(w *zip.Writer) {
		return func(w *zip.Writer) {
			for _, name := range names {
				addFile(t, w, zip.FileHeader{Name: name}, "{}")
			}
		}
	}
	lying := func(bytes uint64, text string) func(w *zip.Writer) {
		return func(w *zip.Writer) {
			var packed deflated
			packed.add(t, text)
			f, err := w.CreateRaw(&zip.FileHeader{
				Name: SummaryFile, Method: zip.Deflate,
				UncompressedSize64: bytes, CompressedSize64: uint64(packed.Len()),
			})
			require.NoError(t, err)
			_, err = f.Write(packed.Bytes())
			require.NoError(t, err)
		}
	}
	for name, c := range map[string]struct {
		write func(w *zip.Writer)
		want  string // the directory, or part of the error
	}{
		"its files":         {named(SummaryFile, "run-1/"+SummaryFile), "/run"},
		"its directory":     {named("x/"+SummaryFile, "x/run-1/"+SummaryFile), "/run/x"},
		"two records":       {named("x/"+SummaryFile, "y/"+SummaryFile), "holds two records, x and y"},
		"none":              {named("x/samples.csv.gz"), "is not a record"},
		"a path above":      {named(SummaryFile, "../../etc/x"), `has the file "../../etc/x", which would lie outside`},
		"an absolute path":  {named("/etc/x"), "which would lie outside"},
		"a path of Windows": {named(`..\x`), "which would lie outside"},
		"a file twice":      {named(SummaryFile, SummaryFile), "is damaged"},
		"a link":            {func(w *zip.Writer) { addFile(t, w, link, "/etc/passwd") }, "which is no file"},
		"a bomb":            {lying(5<<30, "{}"), "unpacks to more than"},
		"a bomb that lies":  {lying(10, string(make([]byte, 1<<20))), "is damaged"},
	} {
		dir := t.TempDir()
		got, err := Unpack(zipped(t, c.write), dir)
		if c.want[0] == '/' {
			require.NoError(t, err, name)
			assert.Equal(t, dir+c.want, got, name)
			assert.FileExists(t, filepath.Join(got, SummaryFile), name)
			continue
		}
		assert.ErrorContains(t, err, c.want, name)
		assert.NoFileExists(t, filepath.Join(dir, "run", "samples.csv.gz"), "a link is not made")
	}
	whole := zipped(t, named(SummaryFile))
	text, err := os.ReadFile(whole)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(whole, text[:len(text)-10], 0o600))
	_, err = Unpack(whole, t.TempDir())
	assert.ErrorContains(t, err, "is no whole zip archive")
}

// deflated is text as an archive has it.
type deflated struct{ bytes.Buffer }

func (d *deflated) add(t *testing.T, text string) {
	t.Helper()
	w, err := flate.NewWriter(d, flate.BestCompression)
	require.NoError(t, err)
	_, err = w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
}
