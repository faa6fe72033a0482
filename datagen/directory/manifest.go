// Package directory keeps a dataset as files: it writes them under DS2's names with a manifest
// beside them, in parts on several machines if need be, checks a directory against its manifest,
// and hands its files back as parts for a load. What stands in the files is package datagen's
// business.
package directory

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"ds2/datagen"
	"ds2/internal/atomicfile"
)

// Manifest says what a directory holds, or, of a dataset made in shards, what one shard put there.
// It is written before the first file and again and again while they are made, so that a run that
// was cut off can be continued.
type Manifest struct {
	Format     int    `json:"format"` // of this file
	KitVersion string `json:"kit_version"`
	SizeText   string `json:"size"`
	datagen.Size
	DataSeed uint64          `json:"data_seed"`
	Words    string          `json:"words_sha256"`
	Lines    string          `json:"lines"` // "lf" or "crlf"
	Tables   []datagen.Table `json:"tables"`
	Shard    Shard           `json:"shard"`
	Files    []Entry         `json:"files"`
}

// Entry is a file of a manifest.
type Entry struct {
	Name  string        `json:"name"`
	Table datagen.Table `json:"table"`
	Seed  uint32        `json:"seed"` // of the random numbers in it
	Rows  int64         `json:"rows"`
	Bytes int64         `json:"bytes"`
	Sum   string        `json:"sum"` // XXH128, in hex; empty: the file is not whole yet
}

const format = 3

// newManifest is the manifest of files before any of them is made.
func newManifest(data *datagen.Dataset, files []datagen.File, o Options) *Manifest {
	m := &Manifest{
		Format:     format,
		KitVersion: o.KitVersion,
		SizeText:   data.Size.String(),
		Size:       data.Size,
		DataSeed:   data.Options.Seed,
		Words:      data.Words.Sum(),
		Lines:      "lf",
		Tables:     o.Tables,
		Shard:      o.Shard,
	}
	if data.Options.CRLF {
		m.Lines = "crlf"
	}
	for _, f := range files {
		m.Files = append(m.Files, Entry{Name: f.Name, Table: f.Table, Seed: f.Seed})
	}
	return m
}

// fileName is the manifest's own file name: what shards made may be brought into one directory.
func (m *Manifest) fileName() string {
	if m.Shard.Count == 1 {
		return "manifest.json"
	}
	return fmt.Sprintf("manifest-%d-of-%d.json", m.Shard.Index, m.Shard.Count)
}

// checkCompatible says whether two manifests may stand in one directory: nil, or what tells them
// apart.
func (m *Manifest) checkCompatible(other *Manifest) error {
	for _, c := range []struct {
		what     string
		old, now any
	}{
		{"size", m.Size, other.Size},
		{"data seed", m.DataSeed, other.DataSeed},
		{"words", m.Words, other.Words},
		{"lines", m.Lines, other.Lines},
		{"tables", fmt.Sprint(m.Tables), fmt.Sprint(other.Tables)},
		{"number of shards", m.Shard.Count, other.Shard.Count},
	} {
		if c.old != c.now {
			return fmt.Errorf("%s says %s %v, not %v", m.fileName(), c.what, c.old, c.now)
		}
	}
	return nil
}

// writeTo puts the manifest into dir, whole or not at all.
func (m *Manifest) writeTo(dir string) error {
	if err := atomicfile.WriteJSON(filepath.Join(dir, m.fileName()), m); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	return nil
}

// readManifest reads a manifest of a directory, and refuses one that this kit did not write.
func readManifest(dir, name string) (*Manifest, error) {
	text, err := atomicfile.Read(filepath.Join(dir, name), maxManifest)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	m, err := parseManifest(name, text)
	if err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", filepath.Join(dir, name), err)
	}
	return m, nil
}

// maxManifest is the most that a manifest is read of, in bytes: one has some kilobytes.
const maxManifest = 1 << 20

// parseManifest reads the text of the manifest of a name.
func parseManifest(name string, text []byte) (*Manifest, error) {
	m := &Manifest{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, err
	}
	return m, m.checkNames(name)
}

// checkNames refuses a manifest that this kit did not write: its names become paths.
func (m *Manifest) checkNames(name string) error {
	if m.Format != format {
		return fmt.Errorf("its format is %d; this version of ds2 reads %d", m.Format, format)
	}
	if err := cmp.Or(m.Size.Check(), m.Shard.checkRange()); err != nil {
		return err
	}
	if m.fileName() != name {
		return fmt.Errorf("it is of shard %v, and its name says another", m.Shard)
	}
	seen := map[string]bool{}
	for _, e := range m.Files {
		known := func(f datagen.File) bool { return f.Name == e.Name && f.Table == e.Table }
		if seen[e.Name] || !slices.ContainsFunc(fileNames, known) {
			return fmt.Errorf("it lists a file %q of table %q, which is not one of a dataset's or is listed twice", e.Name, e.Table)
		}
		seen[e.Name] = true
	}
	return nil
}

// fileNames are the files of every dataset.
var fileNames = func() []datagen.File {
	data, _ := datagen.New(datagen.S, &datagen.Words{}, datagen.Options{}) // no size is refused
	return data.Files()
}()
