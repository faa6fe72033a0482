package durability

import (
	"os"
	"testing"

	"ds2/internal/fuzztest"
)

func FuzzJournal(f *testing.F) {
	above := f.TempDir()
	fuzztest.Run(f, func(t testing.TB, text []byte) {
		file, err := os.CreateTemp(above, "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.Remove(file.Name())
		if _, err := file.Write(text); err != nil {
			t.Fatal(err)
		}
		file.Close()
		all, err := read(file.Name(), 0, 0)
		if err == nil && len(all)*size > len(text) {
			t.Errorf("%d entries of %d bytes", len(all), len(text))
		}
	}, []byte(header), append(append([]byte{}, header...), make([]byte, 2*size)...))
}
