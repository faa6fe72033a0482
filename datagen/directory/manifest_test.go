package directory

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
	"ds2/internal/fuzztest"
)

// FuzzManifest: no manifest makes its readers panic, and no file that one names lies elsewhere.
func FuzzManifest(f *testing.F) {
	data := dataset(f, datagen.S, datagen.Options{})
	examples := []string{
		`{"format":3,"customers":20000,"orders_per_month":1000,"products":10000,"shard":"1/1",` +
			`"files":[{"name":"../../etc/passwd","table":"orders"}]}`,
	}
	for _, shard := range []Shard{Whole, {1, 2}} {
		text, err := json.Marshal(
			newManifest(data, data.Files()[:3], Options{Shard: shard, KitVersion: "test"}),
		)
		require.NoError(f, err)
		examples = append(examples, string(text))
	}
	fuzztest.Run(f, func(t testing.TB, text string) {
		m, err := parseManifest("manifest.json", []byte(text))
		if err != nil {
			return
		}
		for _, e := range m.Files {
			assert.Equal(t, e.Name, filepath.Base(e.Name), "file")
		}
		opened := &Folder{Dir: "nowhere", Manifest: m}
		opened.Parts()
	}, examples...)
}
