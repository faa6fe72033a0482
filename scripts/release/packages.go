package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// zshFunctions are where the shells of the systems of a package look for completions.
var zshFunctions = map[string]string{
	"deb": "/usr/share/zsh/vendor-completions/_ds2",
	"rpm": "/usr/share/zsh/site-functions/_ds2",
}

// packages writes the .deb and the .rpm: the binary, its manual pages and completions.
func (r *release) packages(b binary, docs documents) error {
	for _, format := range []string{"deb", "rpm"} {
		var contents files.Contents
		put := func(source, destination string, mode fs.FileMode) {
			info := &files.ContentFileInfo{Mode: mode}
			contents = append(contents, &files.Content{Source: source, Destination: destination, FileInfo: info})
		}
		add := func(source, destination string) { put(source, destination, 0o644) }
		put(b.path, "/usr/bin/ds2", 0o755)
		add(docs["completions/ds2.bash"], "/usr/share/bash-completion/completions/ds2")
		add(docs["completions/ds2.fish"], "/usr/share/fish/vendor_completions.d/ds2.fish")
		add(docs["completions/_ds2"], zshFunctions[format])
		for _, page := range docs.in("man/man1") {
			zipped, err := r.gzipped(docs[page])
			if err != nil {
				return err
			}
			add(zipped, "/usr/share/"+page+".gz")
		}
		add(docs["README.md"], "/usr/share/doc/ds2/README.md")
		add(docs["CHANGELOG.md"], "/usr/share/doc/ds2/CHANGELOG.md")
		add(docs["LICENSE"], "/usr/share/doc/ds2/copyright")
		for _, license := range docs.in("licenses") {
			add(docs[license], "/usr/share/doc/ds2/"+license)
		}
		info := nfpm.WithDefaults(&nfpm.Info{
			Name: "ds2", Arch: b.arch, Version: packageVersion(r), VersionSchema: "none", Release: "1",
			Section: "database", Maintainer: "The ds2 authors", License: "Apache-2.0", MTime: r.time,
			Description: "storage benchmark kit: DVD Store 2 for PostgreSQL and SQL Server",
		})
		info.Contents = contents
		info.RPM.BuildHost = "localhost"
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		if err := nfpm.PrepareForPackager(info, format); err != nil {
			return fmt.Errorf("package %s: %w", format, err)
		}
		write := func(w io.Writer) error { return packager.Package(info, w) }
		if err := r.create(packager.ConventionalFileName(info), write); err != nil {
			return err
		}
	}
	return nil
}

var described = regexp.MustCompile(`^\d`)

// packageVersion is the release's version as packages write it: with a digit first, and - for nothing but their own
// release. What was never tagged is older than all that will be.
func packageVersion(r *release) string {
	version := r.version
	if !described.MatchString(version) || !strings.Contains(version, ".") {
		version = fmt.Sprintf("0~%s.%s", r.time.Format("20060102150405"), version)
	}
	return strings.ReplaceAll(version, "-", "+")
}

// gzipped compresses a file into one beside it.
func (r *release) gzipped(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	zipped := filepath.Join(r.work, filepath.Base(path)+".gz")
	f, err := os.Create(zipped)
	if err != nil {
		return "", err
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	_, err = z.Write(content)
	return zipped, errors.Join(err, z.Close(), f.Close())
}
