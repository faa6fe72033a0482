package directory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/atomicfile"
	"ds2/internal/fuzztest"
)

var small = datagen.Size{Customers: 2_001, OrdersPerMonth: 100, Products: 1_000}

func dataset(t testing.TB, size datagen.Size, o datagen.Options) *datagen.Dataset {
	t.Helper()
	data, err := datagen.New(size, datagen.DefaultWords(), o)
	require.NoError(t, err)
	return data
}

var (
	all    = Options{KitVersion: "test", Tables: datagen.Tables, Shard: Whole, Parallel: 2}
	resume = with(func(o *Options) { o.Resume = true })
)

// with changes what all has.
func with(change func(*Options)) Options {
	o := all
	change(&o)
	return o
}

// write makes a directory and says how many bytes its progress told of.
func write(t *testing.T, dir string, data *datagen.Dataset, o Options) (*Manifest, int64) {
	t.Helper()
	plan, err := NewPlan(dir, data, o)
	require.NoError(t, err)
	var told atomic.Int64
	m, err := plan.Run(t.Context(), func(n int64) { told.Add(n) })
	require.NoError(t, err)
	return m, told.Load()
}

func verify(t *testing.T, dir string) error {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		return err
	}
	return f.Verify(t.Context(), 2, func(int64) {})
}

// damaged is what verify finds.
func damaged(t *testing.T, dir string) *DamageError {
	t.Helper()
	err := verify(t, dir)
	damage, ok := errors.AsType[*DamageError](err)
	require.True(t, ok, "%v", err)
	return damage
}

// csv is what a directory holds, by DS2's file names.
func csv(t *testing.T, dir string) map[string]string {
	t.Helper()
	f, err := Open(dir)
	require.NoError(t, err)
	parts, err := f.Parts()
	require.NoError(t, err)
	files := map[string]string{}
	for _, p := range parts {
		var b bytes.Buffer
		_, err := p.WriteTo(&b)
		assert.NoError(t, err)
		assert.EqualValues(t, strings.Count(b.String(), "\n"), p.Rows, p.File)
		assert.EqualValues(t, b.Len(), p.Bytes, p.File)
		files[p.File] = b.String()
	}
	return files
}

// generated is what the dataset's own parts give.
func generated(t *testing.T, data *datagen.Dataset) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, p := range data.Parts() {
		var b bytes.Buffer
		_, err := p.WriteTo(&b)
		require.NoError(t, err)
		files[p.File] += b.String()
	}
	return files
}

// whole fails unless a directory holds a dataset, and its manifest says so.
func whole(t *testing.T, dir string, data *datagen.Dataset) {
	t.Helper()
	assert.NoError(t, verify(t, dir))
	got := csv(t, dir)
	want := generated(t, data)
	for name := range want {
		assert.True(
			t,
			got[name] == want[name],
			"%s has %d bytes, other than the %d there should be",
			name,
			len(got[name]),
			len(want[name]),
		)
	}
	assert.Len(t, got, len(want))
}

func TestLines(t *testing.T) {
	lf := generated(t, dataset(t, small, datagen.Options{Seed: 1}))
	for _, crlf := range []bool{false, true} {
		dir := t.TempDir()
		data := dataset(t, small, datagen.Options{Seed: 1, CRLF: crlf, PartRows: 100})
		m, told := write(t, dir, data, with(func(o *Options) { o.Parallel = 8 }))
		whole(t, dir, data)
		size := int64(0)
		for name, text := range csv(t, dir) {
			want := lf[name]
			if crlf {
				want = strings.ReplaceAll(want, "\n", "\r\n")
			}
			assert.True(t, text == want, name)
			size += int64(len(text))
		}
		assert.Equal(t, size, told, "progress")
		assert.Len(t, m.Files, 40)
	}
}

// Sixteen shards, brought into one directory, are the dataset; so are two, or as many as there are
// files.
func TestShards(t *testing.T) {
	data := dataset(t, small, datagen.Options{})
	for _, count := range []int{2, 16, 40} {
		dir := t.TempDir()
		for i := range count {
			if i > 0 {
				assert.Contains(
					t,
					damaged(t, dir).Findings,
					fmt.Sprintf("shard %d/%d is missing", i+1, count),
				)
			}
			own := t.TempDir()
			write(t, own, data, with(func(o *Options) { o.Shard = Shard{i + 1, count} }))
			made, err := os.ReadDir(own)
			require.NoError(t, err)
			for _, e := range made {
				require.NoError(
					t,
					os.Rename(filepath.Join(own, e.Name()), filepath.Join(dir, e.Name())),
				)
			}
		}
		whole(t, dir, data)
	}
}

func TestShardsAreBalanced(t *testing.T) {
	files := dataset(t, datagen.W, datagen.Options{}).Files()
	var total, most int64
	for i := range 4 {
		var n int64
		for _, f := range (Shard{i + 1, 4}).pickFiles(files) {
			n += f.Bytes()
		}
		total = total + n
		most = max(most, n)
	}
	assert.True(
		t,
		float64(most) <= 1.2*float64(total)/4,
		"the largest of four shards has %d bytes of %d",
		most,
		total,
	)
}

// A separate file system holds lost+found, and is empty all the same.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "lost+found"), 0o700))
	two := with(func(o *Options) {
		o.Tables = []datagen.Table{datagen.Products, datagen.Inventory}
	})
	m, _ := write(t, dir, dataset(t, small, datagen.Options{}), two)
	assert.True(
		t,
		len(m.Files) == 2 && m.Files[0].Name == "prod.csv" && m.Files[1].Name == "inv.csv",
		"files %v",
		m.Files,
	)
	assert.NoError(t, verify(t, dir))
	f, err := Open(dir)
	require.NoError(t, err)
	_, err = f.Parts()
	assert.ErrorContains(t, err, "2 of the 40 files", "parts of two tables")
}

// Every kind of damage is found, and a resumed run makes what is damaged, and nothing else.
func TestDamageAndResume(t *testing.T) {
	data := dataset(t, small, datagen.Options{})
	dir := t.TempDir()
	write(t, dir, data, all)
	path := func(name string) string { return filepath.Join(dir, name) }
	change := func(name string, change func([]byte) []byte) {
		t.Helper()
		text, err := os.ReadFile(path(name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path(name), change(text), 0o644))
	}
	require.NoError(t, os.Remove(path("jan_orders.csv")))
	change("feb_orders.csv", func(b []byte) []byte { return b[:len(b)-1] })
	change("mar_orders.csv", func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	change("apr_orders.csv", func(b []byte) []byte { return append(b, b...) })
	change("may_orders.csv", func(b []byte) []byte { return nil })
	before, err := os.Stat(path("jun_orders.csv"))
	require.NoError(t, err)

	findings := damaged(t, dir).Findings
	require.Len(t, findings, 5)
	for i, month := range []string{"apr", "feb", "jan", "mar", "may"} {
		assert.Contains(t, findings[i], month+"_orders.csv ")
	}
	_, told := write(t, dir, data, resume)
	assert.NoError(t, verify(t, dir), "after resuming")
	f, err := Open(dir)
	require.NoError(t, err)
	assert.Equal(t, f.Bytes(), told, "progress")
	after, err := os.Stat(path("jun_orders.csv"))
	assert.True(t, err == nil && os.SameFile(before, after), "a whole file was made again")
}

// A run that is stopped leaves what is not finished, and can be continued.
func TestInterruptAndResume(t *testing.T) {
	dir := t.TempDir()
	data := dataset(t, small, datagen.Options{PartRows: 100})
	plan, err := NewPlan(dir, data, all)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	_, err = plan.Run(ctx, func(int64) { stop() })
	require.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, damaged(t, dir), "was never finished")
	write(t, dir, data, resume)
	whole(t, dir, data)
}

func TestConflicts(t *testing.T) {
	const seed = 1 << 63
	data := dataset(t, small, datagen.Options{Seed: seed})
	larger := small
	larger.Products++
	dir := t.TempDir()
	write(t, dir, data, all)
	for _, c := range []struct {
		name    string
		data    *datagen.Dataset
		options Options
		want    string
	}{
		{"again", data, all, "this dataset already"},
		{"another size", dataset(t, larger, datagen.Options{Seed: seed}), resume, "says size"},
		{
			"another seed", dataset(t, small, datagen.Options{}), resume,
			"says data seed 9223372036854775808, not 0",
		},
		{
			"other lines", dataset(t, small, datagen.Options{Seed: seed, CRLF: true}), resume,
			"says lines lf, not crlf",
		},
		{"other tables", data, with(func(o *Options) {
			o.Resume = true
			o.Tables = []datagen.Table{datagen.Products}
		}), "says tables"},
		{
			"a shard beside a whole", data, with(func(o *Options) { o.Shard = Shard{1, 2} }),
			"which manifest-1-of-2.json does not account for",
		},
	} {
		_, err := NewPlan(dir, c.data, c.options)
		assert.ErrorContains(t, err, c.want, c.name)
	}
	for _, c := range []struct {
		dir, stranger string
		options       Options
	}{{dir, "notes.txt", resume}, {t.TempDir(), "prod.csv", all}} {
		require.NoError(t, os.WriteFile(filepath.Join(c.dir, c.stranger), []byte("x"), 0o644))
		_, err := NewPlan(c.dir, data, c.options)
		assert.ErrorContains(t, err, c.stranger+", which manifest.json does not account for")
	}
}

// That a disk is too small is foreseen.
func TestFullDisk(t *testing.T) {
	huge, err := datagen.ParseSize("1073GB")
	require.NoError(t, err)
	dir := t.TempDir()
	plan, err := NewPlan(dir, dataset(t, huge, datagen.Options{}), all)
	require.NoError(t, err)
	_, err = plan.Run(t.Context(), func(int64) {})
	require.ErrorContains(t, err, "bytes free, and the files to be made need about")
	var free, need, more int64
	const want = " has %d bytes free, and the files to be made need about %d: free %d more, or take another directory"
	_, err = fmt.Sscanf(
		strings.TrimPrefix(err.Error(), "directory "+dir),
		want,
		&free,
		&need,
		&more,
	)
	require.NoError(t, err)
	require.Equal(t, need-free, more)
}

// /dev/full is a disk that is always full.
func TestFullDiskIsExplained(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	w := &work{progress: func(int64) {}}
	w.need.Store(1000)
	s := &sink{work: w, path: "x.csv", file: &atomicfile.File{File: full}}
	assert.EqualError(
		t,
		s.writeBlock([]byte("row\n")),
		"write x.csv: the disk is full: about 1000 bytes more are needed "+
			"for the whole dataset; free them, and resume",
	)
}

// A killed run leaves half-written files; the next one removes them, and follows no link that
// stands among them.
func TestResumeFollowsNoLinks(t *testing.T) {
	dir := t.TempDir()
	data := dataset(t, small, datagen.Options{})
	write(t, dir, data, all)
	victim := filepath.Join(t.TempDir(), "victim")
	prod, err := os.ReadFile(filepath.Join(dir, "prod.csv"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(victim, prod, 0o644))
	require.NoError(t, os.Remove(filepath.Join(dir, "jan_orders.csv")))
	require.NoError(t, os.Remove(filepath.Join(dir, "prod.csv")))
	const killed = ".ABCDEFGHIJKLMNOPQRSTUVWXYZ.partial"
	for _, name := range []string{
		"jan_orders.csv" + killed, "manifest.json" + killed,
		"prod.csv", // whole, but elsewhere
	} {
		require.NoError(t, os.Symlink(victim, filepath.Join(dir, name)))
	}
	require.NoError(
		t,
		os.WriteFile(filepath.Join(dir, "feb_orders.csv"+killed), []byte("1,2009"), 0o644),
	)
	write(t, dir, data, resume)
	whole(t, dir, data)
	got, err := os.ReadFile(victim)
	require.NoError(t, err)
	assert.True(t, bytes.Equal(got, prod), "the links' target was written to")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		assert.True(t, e.Type().IsRegular() && !strings.HasSuffix(e.Name(), ".partial"),
			"%s is left, %v", e.Name(), e.Type())
	}
	assert.Len(t, entries, 41, "%d files, want 40 and the manifest", len(entries))
}

// What is not a manifest of this kit is refused: its names become paths.
func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, dataset(t, small, datagen.Options{}), all)
	path := filepath.Join(dir, "manifest.json")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, c := range []struct{ old, replacement, want string }{
		{`"format": 3`, `"format": 2`, "its format is 2"},
		{`"prod.csv"`, `"../prod.csv"`, `"../prod.csv"`},
		{`"prod.csv"`, `"inv.csv"`, `"inv.csv"`},
		{`"customers": 2001`, `"customers": 0`, "CUSTOMERS.CUSTOMERID"},
		{`"shard": "1/1"`, `"shard": "1/2"`, "and its name says another"},
		{`"shard": "1/1"`, `"shard": "0/1"`, "invalid shard"},
		{`{`, ``, "invalid"},
	} {
		require.NoError(
			t,
			os.WriteFile(
				path,
				bytes.Replace(whole, []byte(c.old), []byte(c.replacement), 1),
				0o644,
			),
		)
		_, err := Open(dir)
		assert.ErrorContains(t, err, c.want)
	}
	require.NoError(
		t,
		os.Truncate(path, 1<<40),
	) // which cannot be a manifest, and shall not come into memory
	_, err = Open(dir)
	assert.ErrorContains(t, err, path+" has more than 1048576 bytes")
	require.NoError(t, os.Remove(path))
	_, err = Open(dir)
	assert.ErrorContains(t, err, "no manifest.json", "no manifest")
}

// What parses prints as what parses to the same, and is a shard of some.
func FuzzParseShard(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text string) {
		shard, err := ParseShard(text)
		if err != nil {
			return
		}
		assert.True(
			t,
			shard.Index >= 1 && shard.Index <= shard.Count && shard.Count <= 40,
			"%q = %v",
			text,
			shard,
		)
		again, err := ParseShard(shard.String())
		assert.NoError(t, err, text)
		assert.Equal(t, shard, again, text)
	}, "1/1", "3/16", "16/16", "0/4", "5/4", "1/41", "", "/", "1/2/3", "-1/2", "0-of-4", "4-of-4", "-1-of-4")
}

// A tool that users have reads the manifest's sums.
func TestTool(t *testing.T) {
	if _, err := exec.LookPath("xxhsum"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	m, _ := write(t, dir, dataset(t, small, datagen.Options{}), all)
	var list strings.Builder
	for _, e := range m.Files {
		fmt.Fprintf(&list, "%s  %s\n", e.Sum, e.Name)
	}
	check := exec.Command("xxhsum", "-c")
	check.Dir = dir
	check.Stdin = strings.NewReader(list.String())
	said, err := check.CombinedOutput()
	assert.NoError(t, err)
	assert.Equal(t, 40, strings.Count(string(said), ": OK"), "%s", said)
}
