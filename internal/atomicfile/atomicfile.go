// Package atomicfile writes files that are whole or not there, even after a power cut: the bytes go
// to a new file beside the path, reach the disk, and only then take the path's name. Every file of
// the kit that is written in one go is written here, and read with a bound on its length; logs and
// series, which grow while a run goes on, are not. Only regular files are replaced.
package atomicfile

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// The name of a file that is being written is the final one, a dot, randomLen random characters,
// and suffix.
const (
	suffix    = ".partial"
	randomLen = 26 // of rand.Text
)

// File is a file being written. It ends with Commit or Abort.
type File struct {
	*os.File
	path    string // that it gets
	special bool   // it is written into: a device or a pipe keeps its name
}

// Create begins to write the file at path. What stands there stays until Commit, and a link that
// someone planted is replaced, not followed; a device or a pipe, also behind a link such as
// /dev/stdout, is written into at once.
func Create(path string) (*File, error) {
	if info, err := os.Stat(path); err == nil && info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0 {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &File{f, path, true}, err
	}
	f, err := os.OpenFile(path+"."+rand.Text()+suffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		failed.Path = path // the temporary name says nothing to anybody
	}
	if err != nil {
		return nil, err
	}
	return &File{f, path, false}, nil
}

// Follow is the regular file to which the link at path leads, for a file that a user names; any
// other path stays.
func Follow(path string) (string, error) {
	link, err := os.Lstat(path)
	if err != nil || link.Mode().Type() != fs.ModeSymlink {
		return path, nil
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return path, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // the system refuses links that others planted
	if err != nil {
		return "", err
	}
	f.Close()
	return filepath.EvalSymlinks(path)
}

// Commit brings the file to the disk and gives it its name. After an error what stood at the path
// before is untouched, unless the error came when the directory was brought to the disk.
func (f *File) Commit() error {
	if f.special {
		return f.Close()
	}
	err := errors.Join(f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), f.path)
	}
	if err != nil {
		os.Remove(f.Name())
		return err
	}
	return syncDir(filepath.Dir(f.path))
}

// Abort removes the file.
func (f *File) Abort() {
	f.Close()
	if !f.special {
		os.Remove(f.Name())
	}
}

// Write writes the file at path by calling write. The error names the path.
func Write(path string, write func(io.Writer) error) error {
	f, err := Create(path)
	if err == nil {
		b := bufio.NewWriter(f)
		if err = errors.Join(write(b), b.Flush()); err != nil {
			f.Abort()
		} else {
			err = f.Commit()
		}
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// WriteJSON writes v as indented JSON to the file at path. The error names the path.
func WriteJSON(path string, v any) error {
	return Write(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	})
}

// Read reads a regular file of so many bytes at most.
func Read(path string, most int64) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		return nil, fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return text, err
}

// Open opens a file to read it. What is no file, such as a pipe without a writer, is refused
// instead of waited for.
func Open(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return os.Open(path)
}

// Target says for which file the temporary file name was being written, as a process that was
// killed leaves it; ok is false where it is no such name.
func Target(name string) (target string, ok bool) {
	name, ok = strings.CutSuffix(name, suffix)
	random := filepath.Ext(name)
	target = strings.TrimSuffix(name, random)
	return target, ok && target != "" && len(random) == len(".")+randomLen
}

// syncDir brings a directory to the disk: the names of the files in it, not the files.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // where a directory cannot be synced
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// RemoveLeft removes what processes that were killed left of files being written, in a directory
// and all below it. There must be no writer.
func RemoveLeft(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if _, ok := Target(d.Name()); !ok {
			return nil
		}
		return os.Remove(path)
	})
}
