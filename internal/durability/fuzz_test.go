package durability

import (
	"os"
	"path/filepath"
	"testing"
)

func FuzzJournal(f *testing.F) {
	f.Add([]byte(header))
	f.Add(append(append([]byte{}, header...), make([]byte, 2*size)...))
	path := filepath.Join(f.TempDir(), File)
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := read(path, 0, 0)
		if err == nil && len(all)*size > len(text) {
			t.Errorf("%d entries of %d bytes", len(all), len(text))
		}
	})
}
