package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// writeFile writes a file beside its name and renames it, so that a half-written one is never mistaken for a whole one.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.Create(path + ".tmp")
	if err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	b := bufio.NewWriter(f)
	err = errors.Join(write(b), b.Flush(), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
