package folder

import (
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Compression is how files are compressed: one of the constants.
type Compression string

// The compressions.
const (
	None Compression = "none"
	Gzip Compression = "gzip"
	Zstd Compression = "zstd"
)

// ParseCompression reads a name of a compression: none, gzip or zstd.
func ParseCompression(s string) (Compression, error) {
	switch c := Compression(s); c {
	case None, Gzip, Zstd:
		return c, nil
	}
	return "", fmt.Errorf("invalid compression %q: use none, gzip or zstd", s)
}

// suffix is what the compression adds to a file's name.
func (c Compression) suffix() string {
	switch c {
	case Gzip:
		return ".gz"
	case Zstd:
		return ".zst"
	}
	return ""
}

// Writer compresses what is written to it into w; closing it ends the compression, not w. Both compressions run in the
// caller's goroutine at the fastest level: the rows are random, and a higher one gains little.
func (c Compression) Writer(w io.Writer) (io.WriteCloser, error) {
	switch c {
	case Gzip:
		return gzip.NewWriterLevel(w, gzip.BestSpeed)
	case Zstd:
		return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	}
	return nopCloser{w}, nil
}

func (c Compression) reader(r io.Reader) (io.ReadCloser, error) {
	switch c {
	case Gzip:
		return gzip.NewReader(r)
	case Zstd:
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return io.NopCloser(r), nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
