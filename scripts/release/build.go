package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

type binary struct {
	platform
	path    string
	content []byte
	info    *debug.BuildInfo
}

// name is the binary's in an archive.
func (b binary) name() string {
	if b.os == "windows" {
		return "ds2.exe"
	}
	return "ds2"
}

// build builds ds2 for a platform: static, without paths of this machine and without symbols.
func (r *release) build(p platform) (binary, error) {
	b := binary{platform: p}
	b.path = filepath.Join(r.work, p.String(), b.name())
	_, err := r.run(p, "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X main.version="+r.version, "-o", b.path, "./cmd/ds2")
	if err != nil {
		return b, err
	}
	if b.content, err = os.ReadFile(b.path); err != nil {
		return b, err
	}
	b.info, err = buildinfo.Read(bytes.NewReader(b.content))
	return b, err
}

// run runs go for a platform, in ds2's module.
func (r *release) run(p platform, args ...string) ([]byte, error) {
	c := exec.Command("go", args...)
	c.Dir = r.source
	c.Env = append(os.Environ(),
		"GOFLAGS=", "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0", "GOOS="+p.os, "GOARCH="+p.arch)
	return output(c)
}

// documents are the files that lie beside the binary, by their paths in an archive, each with the file that holds it.
type documents map[string]string

// in are those of a directory of the archive, in order.
func (d documents) in(dir string) []string {
	var paths []string
	for path := range d {
		if filepath.Dir(path) == dir {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// completions are the files of ds2 completion, by shell.
var completions = map[string]string{"bash": "ds2.bash", "zsh": "_ds2", "fish": "ds2.fish", "powershell": "ds2.ps1"}

// documents collects licenses, and has a ds2 of this machine write the manual pages and the completions.
func (r *release) documents() (documents, error) {
	docs := documents{
		"README.md":                filepath.Join(r.source, "README.md"),
		"CHANGELOG.md":             filepath.Join(r.source, "CHANGELOG.md"),
		"LICENSE":                  filepath.Join(r.source, "LICENSE"),
		"licenses/echarts.LICENSE": filepath.Join(r.source, "internal/report/page/echarts.LICENSE"),
		"licenses/echarts.NOTICE":  filepath.Join(r.source, "internal/report/page/echarts.NOTICE"),
	}
	native, err := r.build(platform{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return nil, err
	}
	pages := filepath.Join(r.work, "man1")
	man := exec.Command(native.path, "man", pages)
	man.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
	if _, err := output(man); err != nil {
		return nil, err
	}
	written, err := os.ReadDir(pages)
	if err != nil {
		return nil, err
	}
	for _, page := range written {
		docs["man/man1/"+page.Name()] = filepath.Join(pages, page.Name())
	}
	for shell, name := range completions {
		script, err := output(exec.Command(native.path, "completion", shell))
		if err != nil {
			return nil, err
		}
		path := filepath.Join(r.work, name)
		if err := os.WriteFile(path, script, 0o644); err != nil {
			return nil, err
		}
		docs["completions/"+name] = path
	}
	docs["licenses/modules.txt"], err = r.moduleLicenses()
	return docs, err
}

var licenseFile = regexp.MustCompile(`^(UN)?LICEN[CS]E|^COPYING|^NOTICE`)

// moduleLicenses writes the licenses of Go and of every module in a binary, over all platforms.
func (r *release) moduleLicenses() (string, error) {
	dirs := map[string]string{}
	for _, p := range platforms {
		out, err := r.run(p, "list", "-deps", "-json=Standard,Module", "./cmd/ds2")
		if err != nil {
			return "", err
		}
		for list := json.NewDecoder(bytes.NewReader(out)); list.More(); {
			var pkg struct {
				Module *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := list.Decode(&pkg); err != nil {
				return "", err
			}
			if m := pkg.Module; m != nil && !m.Main {
				dirs[m.Path+" "+m.Version] = m.Dir
			}
		}
	}
	root, err := output(exec.Command("go", "env", "GOROOT"))
	if err != nil {
		return "", err
	}
	dirs["Go "+runtime.Version()] = strings.TrimSpace(string(root))
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		found, err := filepath.Glob(filepath.Join(dirs[name], "*"))
		if err != nil {
			return "", err
		}
		licensed := false
		for _, path := range found {
			kind := licenseFile.FindString(strings.ToUpper(filepath.Base(path)))
			if kind == "" {
				continue
			}
			licensed = licensed || kind != "NOTICE"
			content, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&text, "==== %s: %s\n\n%s\n", name, filepath.Base(path), content)
		}
		if !licensed {
			return "", fmt.Errorf("%s has no license in %s", name, dirs[name])
		}
	}
	path := filepath.Join(r.work, "modules.txt")
	return path, os.WriteFile(path, []byte(text.String()), 0o644)
}
