package folder

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"ds2/datagen"
)

// FuzzManifest: no manifest makes its readers panic, and no file that one names lies elsewhere.
func FuzzManifest(f *testing.F) {
	data, err := datagen.New(datagen.S, datagen.DefaultWords(), datagen.Options{})
	if err != nil {
		f.Fatal(err)
	}
	for _, o := range []Options{{Shard: Whole, KitVersion: "test"}, {Shard: Shard{Index: 1, Count: 2}, KitVersion: "test"}} {
		m := newManifest(data, data.Files(), o)
		text, err := json.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(m.name(), text)
	}
	f.Add("manifest.json", []byte(`{"format":1,"customers":20000,"orders_per_month":1000,"products":10000,"shard":{"index":1,"count":1},"files":[{"name":"../../etc/passwd","table":"orders"}]}`))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		if !filepath.IsLocal(name) || filepath.Base(name) != name || len(name) > 100 {
			return
		}
		dir := t.TempDir()
		if os.WriteFile(filepath.Join(dir, name), text, 0o644) != nil {
			return
		}
		opened, err := Open(dir)
		if err != nil {
			return
		}
		for _, e := range opened.Manifest.Files {
			if filepath.Base(e.Name) != e.Name {
				t.Errorf("file %q lies elsewhere", e.Name)
			}
		}
		opened.Size()
		opened.Parts()
		opened.Verify(t.Context(), 1, func(int64) {})
	})
}
