package directory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"ds2/datagen"
)

// Folder is a dataset in a directory, as its manifests say it is.
type Folder struct {
	Dir      string
	Manifest *Manifest // of all shards together
	missing  []string  // shards whose manifest is not there
}

// Open reads the manifests of a directory, and nothing else yet.
func Open(dir string) (*Folder, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("open directory: %w", err)
	}
	names, _ := fs.Glob(os.DirFS(dir), "manifest*.json") // one, or one a shard
	if len(names) == 0 {
		return nil, fmt.Errorf(
			"open directory %s: it has no manifest.json: it was not made by ds2 generate", dir)
	}
	f := &Folder{Dir: dir}
	shards := map[int]bool{}
	for _, name := range names {
		m, err := readManifest(dir, name)
		if err != nil {
			return nil, err
		}
		shards[m.Shard.Index] = true
		if f.Manifest == nil {
			f.Manifest = m
			continue
		}
		if err := f.Manifest.checkCompatible(m); err != nil {
			return nil, fmt.Errorf(
				"open directory %s: %s is of another dataset: %w", dir, name, err)
		}
		f.Manifest.Files = append(f.Manifest.Files, m.Files...)
	}
	for i := range f.Manifest.Shard.Count {
		if !shards[i+1] {
			absent := Shard{i + 1, f.Manifest.Shard.Count}
			f.missing = append(f.missing, fmt.Sprintf("shard %v is missing", absent))
		}
	}
	f.Manifest.Shard = Whole
	return f, nil
}

// Bytes is how many bytes of CSV the directory holds.
func (f *Folder) Bytes() (n int64) {
	for _, e := range f.Manifest.Files {
		n += e.Bytes
	}
	return n
}

// neverFinished is what is wrong with a file without a sum.
const neverFinished = "was never finished"

// Parts lists the directory's files as parts, one a file, for a load. Writing one reads its file
// and compares it with the manifest on the way: the error comes with the last row. A directory that
// does not hold every file of the dataset, finished, is refused.
func (f *Folder) Parts() ([]datagen.Part, error) {
	if len(f.Manifest.Files) != len(fileNames) {
		short := fmt.Sprintf("it holds %d of the %d files of a dataset",
			len(f.Manifest.Files), len(fileNames))
		return nil, &DamageError{f.Dir, append(f.missing, short)}
	}
	var parts []datagen.Part
	for _, e := range f.Manifest.Files {
		if e.Sum == "" {
			return nil, &DamageError{f.Dir, []string{e.Name + " " + neverFinished}}
		}
		if slices.ContainsFunc(parts, func(p datagen.Part) bool { return p.File == e.Name }) {
			return nil, &DamageError{f.Dir, []string{e.Name + " is in two manifests"}}
		}
		parts = append(parts, datagen.Part{
			Table: e.Table, File: e.Name, Rows: e.Rows, Bytes: e.Bytes, WriterTo: &reader{f.Dir, e},
		})
	}
	return parts, nil
}

// DamageError says what in a directory is not as its manifest says.
type DamageError struct {
	Dir      string
	Findings []string // one for each file or missing shard
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("dataset in %s is incomplete: %s", e.Dir, strings.Join(e.Findings, "; "))
}

// Verify reads every file and compares its rows, its bytes and its sum with the manifest, several
// files at once. What it finds is a *DamageError. Progress is told the bytes of CSV that are read,
// from several goroutines at once.
func (f *Folder) Verify(ctx context.Context, parallel int, progress func(int64)) error {
	damages, err := f.Manifest.verifyFiles(ctx, f.Dir, parallel, progress)
	if err != nil {
		return err
	}
	findings := slices.Clone(f.missing)
	for _, d := range damages {
		findings = append(findings, d.findings...)
	}
	if len(findings) > 0 {
		slices.Sort(findings)
		return &DamageError{f.Dir, findings}
	}
	return nil
}

// damage says how a file is not as its entry says, and how many bytes of CSV came out of it.
type damage struct {
	entry    *Entry
	read     int64
	findings []string
}

// verifyFiles reads every file in dir, several at once.
func (m *Manifest) verifyFiles(
	ctx context.Context, dir string, parallel int, progress func(int64),
) (damages []damage, err error) {
	var mu sync.Mutex
	var checks errgroup.Group
	checks.SetLimit(parallel)
	for i := range m.Files {
		e := &m.Files[i]
		checks.Go(func() error {
			read, err := (&reader{dir, *e}).WriteTo(progressWriter{ctx, progress})
			if found, ok := errors.AsType[*DamageError](err); ok {
				mu.Lock()
				defer mu.Unlock()
				damages = append(damages, damage{e, read, found.Findings})
				return nil
			}
			return err
		})
	}
	err = checks.Wait()
	return damages, err
}

// reader is a file of the dataset as rows of CSV, checked while it is read.
type reader struct {
	dir   string
	entry Entry
}

// WriteTo writes the file's rows to w, and ends with a *DamageError where they are not those of the
// manifest.
func (r *reader) WriteTo(w io.Writer) (int64, error) {
	damaged := func(read int64, format string, args ...any) (int64, error) {
		finding := r.entry.Name + " " + fmt.Sprintf(format, args...)
		return read, &DamageError{r.dir, []string{finding}}
	}
	if r.entry.Sum == "" {
		return damaged(0, neverFinished)
	}
	f, err := os.Open(filepath.Join(r.dir, r.entry.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return damaged(0, "is missing")
	}
	if err != nil {
		return 0, fmt.Errorf("read file: %w", err)
	}
	defer f.Close()
	var got content
	file := struct{ io.Reader }{f} // nothing more, so that it is read into the buffer
	read, err := io.CopyBuffer(io.MultiWriter(&got, w), file, make([]byte, 256<<10))
	switch {
	case err != nil:
		return read, err
	case read != r.entry.Bytes:
		return damaged(read, "has %d bytes, not %d", read, r.entry.Bytes)
	case got.rows != r.entry.Rows:
		return damaged(read, "has %d rows, not %d", got.rows, r.entry.Rows)
	case got.checksum() != r.entry.Sum:
		return damaged(read, "has another checksum, %s", got.checksum())
	}
	return read, nil
}

// progressWriter drops what it is given, tells how much it was, and ends with its context.
type progressWriter struct {
	ctx      context.Context
	progress func(int64)
}

// Write tells of p, and is the error of the context: a check of terabytes can be stopped.
func (w progressWriter) Write(p []byte) (int, error) {
	w.progress(int64(len(p)))
	return len(p), w.ctx.Err()
}
