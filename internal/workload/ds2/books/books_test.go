package books

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
	"ds2/internal/workload/ds2/calls"
)

// noted is a journal in memory.
type noted []byte

func (n *noted) Note(entry []byte) { *n = append(*n, entry...) }

func TestEntries(t *testing.T) {
	var n noted
	b := New(&n)
	items := []calls.Item{{Product: 7, Quantity: 2}, {Product: 9, Quantity: 1}, {Product: 7, Quantity: 1}}
	p := calls.Purchase{CustomerID: 3, Items: items, Total: 1099}
	b.Bought(1, 12001, &p)
	b.InDoubt(0, &p)
	b.Registered(1, 7, []byte("user7"))
	require.True(t, len(n) == 3*Size && Size == 38, "%d bytes for three entries of %d", len(n), Size)
	all, err := read(n, 1)
	require.NoError(t, err)
	assert.Equal(t, []entry{
		{Order: 12001, Customer: 3, Total: 1099, Lines: 3, Target: 1},
		{Kind: registered, Target: 1, Customer: 7, Name: nameSum([]byte("user7"))},
	}, all)
	doubtful, err := read(n, 0)
	require.NoError(t, err)
	assert.Len(t, doubtful, 1, "of target 0")
}

func FuzzEntries(f *testing.F) {
	fuzztest.Run(f, func(t testing.TB, text []byte) {
		if all, err := read(text, 0); err == nil && len(all)*Size > len(text) {
			t.Errorf("%d entries of %d bytes", len(all), len(text))
		}
	}, make([]byte, 2*Size))
}
