package datagen

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The first numbers of glibc's rand() after srand(1), and srand(0) is the same.
func TestRandom(t *testing.T) {
	for _, seed := range []uint32{0, 1} {
		g := newRandom(seed, 0)
		for i, want := range []uint32{1804289383, 846930886, 1681692777} {
			assert.Equal(t, want, g.peekDraws(1)[0]>>1, "srand(%d), number %d", seed, i)
			g.skipDraws(1)
		}
	}
}

// A generator that skips is where one that draws arrives, at the ends of blocks too.
func TestSkip(t *testing.T) {
	for _, skip := range []int{0, 1, 2, 30, 31, 32, block - 1, block, block + 1, 5*block + 7} {
		drawn := newRandom(20001, 0)
		for range skip {
			drawn.peekDraws(1)
			drawn.skipDraws(1)
		}
		skipped := newRandom(20001, uint64(skip))
		for i := range 100 {
			require.Equal(
				t,
				drawn.peekDraws(1)[0],
				skipped.peekDraws(1)[0],
				"number %d after skipping %d",
				i,
				skip,
			)
			skipped.skipDraws(1)
			drawn.skipDraws(1)
		}
	}
}

// Whole numbers give what doubles give wherever below is used.
func TestBelow(t *testing.T) {
	for _, n := range []uint64{1, 3, 9, 26, 51, 40000, 90000, 1 << 22} {
		for _, x := range []uint32{0, 1, 2, 1 << 31, 1<<31 - 1, 1<<32 - 1, 3608578767, 1693861773} {
			assert.Equal(t, belowFloat(float64(n), x), scaleBelow(n, x), "below(%d, %d)", n, x)
		}
	}
}

func TestPutUint(t *testing.T) {
	values := []uint64{
		0, 1, 9, 10, 99, 9_999, 10_000, 99_999_999, 100_000_000, 2_147_483_647, 9_999_999_999,
	}
	for _, v := range values {
		var b [maxRow]byte
		n := putUint(&b, 3, v)
		assert.Equal(t, strconv.FormatUint(v, 10), string(b[3:n]))
	}
}

// Every amount is what C's printf makes of DS2's doubles.
func TestAmounts(t *testing.T) {
	for cents := uint64(1); cents <= 40_000; cents++ {
		net := float64(0.01 * float64(cents))
		tax := float64(0.0825 * net)
		var b [maxRow]byte
		gotTax, gotTotal := taxAndTotal(cents)
		n := putMoney(&b, putMoney(&b, putMoney(&b, 0, cents), gotTax), gotTotal)
		require.Equal(t, fmt.Sprintf(",%.2f,%.2f,%.2f", net, tax, net+tax), string(b[:n]))
	}
}
