package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"
)

// archive writes the binary and the documents as a .tar.gz, for Windows as a .zip.
func (r *release) archive(b binary, docs documents) error {
	dir := fmt.Sprintf("ds2_%s_%s", r.version, b)
	write, name := tarGzip, dir+".tar.gz"
	if b.os == "windows" {
		write, name = zipped, dir+".zip"
	}
	var entries []entry
	for _, path := range slices.Sorted(maps.Keys(docs)) {
		content, err := os.ReadFile(docs[path])
		if err != nil {
			return err
		}
		entries = append(entries, entry{dir + "/" + path, 0o644, content})
	}
	entries = append(entries, entry{dir + "/" + b.name(), 0o755, b.content})
	return r.create(name, func(w io.Writer) error { return write(w, r.time, entries) })
}

// entry is a file in an archive; one whose path ends with a slash is a directory.
type entry struct {
	path    string
	mode    fs.FileMode
	content []byte
}

// createTar makes a tar archive of the release, in which all is root's.
func (r *release) createTar(name string, entries []entry) error {
	return r.create(name, func(w io.Writer) error { return tarred(w, r.time, 0, entries) })
}

func tarGzip(w io.Writer, t time.Time, entries []entry) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := tarred(z, t, 0, entries); err != nil {
		return err
	}
	return z.Close()
}

// tarred writes a tar archive, in which all belongs to a user and a group of one number.
func tarred(w io.Writer, t time.Time, owner int, entries []entry) error {
	archive := tar.NewWriter(w)
	for _, e := range entries {
		header := tar.Header{
			Name: e.path, Mode: int64(e.mode), Size: int64(len(e.content)), ModTime: t,
			Uid: owner, Gid: owner, Typeflag: tar.TypeReg,
		}
		if e.path[len(e.path)-1] == '/' {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := archive.Write(e.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

func zipped(w io.Writer, t time.Time, entries []entry) error {
	archive := zip.NewWriter(w)
	for _, e := range entries {
		header := zip.FileHeader{Name: e.path, Method: zip.Deflate, Modified: t}
		header.SetMode(e.mode)
		f, err := archive.CreateHeader(&header)
		if err != nil {
			return err
		}
		if _, err := f.Write(e.content); err != nil {
			return err
		}
	}
	return archive.Close()
}
