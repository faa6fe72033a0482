package result

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ArchiveExt ends the name of a record that is packed into one file.
const ArchiveExt = ".zip"

// What an archive may unpack to: more than the record of an experiment of weeks, and little enough
// for a disk.
const (
	maxArchiveFiles = 20_000
	maxArchiveBytes = 4 << 30
)

// Pack writes the record in a directory as an archive, without the page that was made of it.
func Pack(w io.Writer, dir string) error {
	z := zip.NewWriter(w)
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || path.Base(name) == ReportFile {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		to, err := z.Create(name)
		if err != nil {
			return err
		}
		_, err = to.Write(text)
		return err
	})
	if err = errors.Join(err, z.Close()); err != nil {
		return fmt.Errorf("pack record %s: %w", dir, err)
	}
	return nil
}

// Unpack unpacks the archive of a record into a new directory below dir, which has the archive's
// name, and gives where the record lies in it: an archive may hold the record's files, or the
// directory with them. What is no archive of a record, or a damaged one, is refused, and so is one
// whose files lie elsewhere or come to too much.
func Unpack(archive, dir string) (record string, err error) {
	refuse := func(format string, args ...any) (string, error) {
		return "", fmt.Errorf("read record: %s %w", archive, fmt.Errorf(format, args...))
	}
	z, err := zip.OpenReader(archive)
	if err != nil {
		return refuse("is no whole zip archive: %w", err)
	}
	defer z.Close()
	root := filepath.Join(dir, strings.TrimSuffix(filepath.Base(archive), ArchiveExt))
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", fmt.Errorf("unpack record: %w", err)
	}
	if len(z.File) > maxArchiveFiles {
		return refuse("has more than %d files: ds2 did not write them", maxArchiveFiles)
	}
	bytes := uint64(0)
	var records []string // the directories with a summary
	for _, f := range z.File {
		name := strings.TrimSuffix(f.Name, "/")
		_, err := filepath.Localize(name)
		bytes += min(f.UncompressedSize64, maxArchiveBytes+1)
		switch {
		case err != nil || strings.Contains(name, `\`):
			return refuse("has the file %q, which would lie outside of it", f.Name)
		case !f.Mode().IsDir() && !f.Mode().IsRegular():
			return refuse("has %q, which is no file", f.Name)
		case bytes > maxArchiveBytes:
			return refuse("unpacks to more than %d bytes: ds2 did not write it", maxArchiveBytes)
		case f.Mode().IsRegular() && path.Base(name) == SummaryFile:
			records = append(records, path.Dir(name))
		}
	}
	if err := os.CopyFS(root, z); err != nil { // each file to its length and its checksum
		return refuse("is damaged: %w", err)
	}
	if len(records) == 0 {
		return "", none{fmt.Errorf("read record: %s is not a record: it holds no %s; "+
			"pack the directory that a run, a bench or an experiment wrote", archive, SummaryFile)}
	}
	top := slices.MinFunc(records, func(a, b string) int { return len(a) - len(b) })
	for _, other := range records {
		if top != "." && other != top && !strings.HasPrefix(other, top+"/") {
			return refuse("holds two records, %s and %s: pack each into its own archive", top,
				other)
		}
	}
	return filepath.Join(root, filepath.FromSlash(top)), nil
}
