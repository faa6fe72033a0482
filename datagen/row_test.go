package datagen_test

import (
	"bufio"
	"bytes"
	"testing"

	"ds2/datagen"
)

// TestWriterWithABufferOfItsOwn: a bufio.Writer lends what is left of its buffer, which need not hold a row.
func TestWriterWithABufferOfItsOwn(t *testing.T) {
	data, err := datagen.New(datagen.Size{Customers: 3_000, OrdersPerMonth: 100, Products: 10_000}, datagen.DefaultWords(), datagen.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range data.Parts() {
		var want, got bytes.Buffer
		if _, err := part.WriteTo(&want); err != nil {
			t.Fatal(err)
		}
		b := bufio.NewWriterSize(&got, 256<<10)
		if _, err := part.WriteTo(b); err != nil {
			t.Fatal(err)
		}
		if err := b.Flush(); err != nil || !bytes.Equal(want.Bytes(), got.Bytes()) {
			t.Errorf("%s: %d bytes, want the same %d: %v", part.Table, got.Len(), want.Len(), err)
		}
	}
}
