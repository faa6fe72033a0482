package directory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"ds2/datagen"
	"ds2/internal/atomicfile"
	"ds2/internal/diskspace"
)

// PartRows is how many customers a part should have of a dataset that goes into a directory: some
// parts are held in memory.
const PartRows = 8_192

// Options say what of a dataset goes into a directory, and how.
type Options struct {
	KitVersion string          // for the manifest
	Tables     []datagen.Table // only these; datagen.Tables are all
	Shard      Shard           // only this shard's files; Whole is all
	Parallel   int             // parts made concurrently, at least 1
	Resume     bool            // go on where an earlier run with the same options ended
}

// Plan is what is to be done to put a dataset into a directory. It is made by NewPlan and carried
// out once, by Run.
type Plan struct {
	dir      string
	options  Options
	files    []datagen.File
	manifest *Manifest
	partial  []string // files that an earlier run that was killed left half written
}

// NewPlan plans to put data into dir. It touches nothing, and refuses a directory that holds
// anything but what an earlier run with the same options put there.
func NewPlan(dir string, data *datagen.Dataset, o Options) (*Plan, error) {
	files := slices.DeleteFunc(data.Files(), func(f datagen.File) bool {
		return !slices.Contains(o.Tables, f.Table)
	})
	files = o.Shard.pickFiles(files)
	p := &Plan{dir: dir, options: o, files: files, manifest: newManifest(data, files, o)}
	return p, p.checkDirectory()
}

// Bytes is how many bytes of CSV Run will make or, resuming, check: about.
func (p *Plan) Bytes() (n int64) {
	for _, f := range p.files {
		n += f.Bytes()
	}
	return n
}

// checkDirectory refuses a directory in which something stands that the manifest of this run does
// not account for, and takes over what an earlier run finished.
func (p *Plan) checkDirectory() error {
	held, err := os.ReadDir(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read directory: %w", err)
	}
	name := p.manifest.fileName()
	known := map[string]bool{name: true, "lost+found": true} // a separate file system has one
	if slices.ContainsFunc(held, func(e fs.DirEntry) bool { return e.Name() == name }) {
		earlier, err := readManifest(p.dir, name)
		if err != nil {
			return err
		}
		if err := earlier.checkCompatible(p.manifest); err != nil {
			return fmt.Errorf(
				"directory %s holds another dataset: %w: take an empty directory", p.dir, err)
		}
		if !p.options.Resume {
			return fmt.Errorf("directory %s holds this dataset already, whole or in part: resume, or take an empty directory", p.dir)
		}
		for _, e := range earlier.Files {
			known[e.Name] = true
			for i, m := range p.manifest.Files {
				if m.Name == e.Name {
					p.manifest.Files[i] = e
				}
			}
		}
	}
	for _, entry := range held {
		switch target, isPartial := atomicfile.Target(entry.Name()); {
		case known[entry.Name()]:
		case isPartial && known[target]:
			p.partial = append(p.partial, entry.Name())
		default:
			return fmt.Errorf(
				"directory %s holds %s, which %s does not account for: take an empty directory",
				p.dir, entry.Name(), name)
		}
	}
	return nil
}

// Run carries the plan out: the directory is made, what an earlier run finished is read and
// checked, the missing space is foreseen where it can be, and the missing files are made, each
// beside its name and then renamed. Progress is told each number of CSV bytes that are done, from
// several goroutines at once. Run returns the manifest as it is written; after an error the
// directory can be resumed.
func (p *Plan) Run(ctx context.Context, progress func(int64)) (*Manifest, error) {
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return nil, fmt.Errorf("make directory: %w", err)
	}
	// Of a run that was killed: their names are random, so that no later run would replace them.
	for _, name := range p.partial {
		if err := os.Remove(filepath.Join(p.dir, name)); err != nil {
			return nil, fmt.Errorf("remove half-written file: %w", err)
		}
	}
	if err := p.dropDamaged(ctx, progress); err != nil {
		return nil, err
	}
	w := &work{plan: p, progress: progress}
	var files []*fileWork
	for i, f := range p.files {
		if p.manifest.Files[i].Sum == "" {
			files = append(files, newFileWork(f, &p.manifest.Files[i]))
			w.need.Add(f.Bytes())
		}
	}
	if free, ok := diskspace.Free(p.dir); ok && free < w.need.Load() {
		return nil, fmt.Errorf(
			"directory %s has %d bytes free, and the files to be made need about %d: free %d more, or take another directory",
			p.dir, free, w.need.Load(), w.need.Load()-free)
	}
	if err := p.manifest.writeTo(p.dir); err != nil {
		return nil, err
	}
	err := w.runJobs(ctx, files, p.options.Parallel)
	noted := p.manifest.writeTo(p.dir) // also after an error: what is whole need not be made again
	return p.manifest, cmp.Or(err, noted)
}

// dropDamaged takes the sums out of the manifest whose files are missing, links or not as it says,
// so that they are made again.
func (p *Plan) dropDamaged(ctx context.Context, progress func(int64)) error {
	for i, e := range p.manifest.Files {
		stat, err := os.Lstat(filepath.Join(p.dir, e.Name))
		if err == nil && !stat.Mode().IsRegular() {
			// The new file takes the place of the link: where it leads is not this dataset's.
			p.manifest.Files[i].Sum = ""
		}
	}
	damages, err := p.manifest.verifyFiles(ctx, p.dir, p.options.Parallel, progress)
	for _, d := range damages {
		if d.read > 0 {
			progress(-d.read)
		}
		d.entry.Sum = ""
	}
	return err
}
