package device

import (
	"os"
	"path/filepath"
	"testing"
)

func FuzzFio(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		f.Fatal("no output of fio in testdata")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) { parse(text, job{rw: "randrw", block: 8192, depth: 4}) })
}
