package outside

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"ds2/internal/atomicfile"
	"ds2/internal/escape"
	"ds2/internal/shell"
)

// How many bytes are read of what is not ds2's.
const (
	MaxText = 1 << 20  // of a file that a user writes, and of what a command prints
	MaxLog  = 64 << 20 // of a log that a meter writes
)

// ReadFile reads a regular file that a user names, of so many bytes at most, as UTF-8 without a
// byte order mark: editors of Windows write one, and UTF-16. A file system that does not answer is
// waited for until ctx ends.
func ReadFile(ctx context.Context, path string, most int64) ([]byte, error) {
	var text []byte
	// It holds the answer that comes when nobody waits any more, so that the reader can end.
	read := make(chan error, 1)
	go func() {
		raw, err := atomicfile.Read(path, most)
		if err == nil {
			text, _, err = transform.Bytes(unicode.BOMOverride(transform.Nop), raw)
		}
		read <- err
	}()
	select {
	case err := <-read:
		return text, err
	case <-ctx.Done():
		return nil, fmt.Errorf("read %s: %w", path, context.Cause(ctx))
	}
}

// Output is what a command line that a user gives prints, within the limit of Command. The error
// quotes what the line says to its standard error, and nothing that it prints.
func Output(ctx context.Context, line string) (string, error) {
	ctx, cancel := Within(ctx, Command)
	defer cancel()
	var printed, said bounded
	err := Err(ctx, shell.Run(ctx, line, &printed, &said))
	why := escape.Brief(strings.TrimSpace(said.text.String()))
	switch {
	case printed.full:
		return "", fmt.Errorf("it printed more than %d bytes", MaxText)
	case err != nil:
		return "", fmt.Errorf("%w: %s", err, cmp.Or(why, "it said nothing"))
	}
	return printed.text.String(), nil
}

// bounded takes MaxText bytes. Who goes on writing gets an error, and a program a broken pipe.
type bounded struct {
	text bytes.Buffer
	full bool
}

// Write takes a text whole, or none of it where it would pass the bound.
func (b *bounded) Write(text []byte) (int, error) {
	if b.full = b.text.Len()+len(text) > MaxText; b.full {
		return 0, errors.New("too long")
	}
	return b.text.Write(text)
}
