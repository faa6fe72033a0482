package datagen

import "math/bits"

// The random numbers of WORKLOAD.md section 3: glibc's rand() of TYPE_3, an additive feedback
// generator
//
//	x[n] = x[n-3] + x[n-31] mod 2^32, of which rand() shows x[n] >> 1
//
// Numbers are made a block at a time into a window that the rows read from directly: this is the
// innermost loop of everything in this package.

const (
	lag = 31 // words of state
	// words kept in front of a new block: the state, and what is still to be handed out
	keep = 64
	// words made at a time: a multiple of 3, for refill, of a size that the first-level cache holds
	block = 3 * 1024
)

// random is the generator. The zero value is of no use; see newRandom.
type random struct {
	x   [keep + block]uint32 // the sequence, oldest first; x[pos:] are still to be handed out
	pos int
}

// newRandom is the generator after srand(seed) and skip calls of rand().
func newRandom(seed uint32, skip uint64) *random {
	if seed == 0 {
		seed = 1
	}
	var r [lag + 3]uint32
	word := int32(seed)
	r[0] = seed
	for i := 1; i < lag; i++ {
		// Schrage's form of 16807·word mod 2147483647, signed as glibc has it.
		word = 16807*(word%127773) - 2836*(word/127773)
		if word < 0 {
			word += 2147483647
		}
		r[i] = uint32(word)
	}
	copy(r[lag:], r[:3]) // glibc begins three words into its ring
	state := jumpAhead([lag]uint32(r[3:]), 310+skip)
	g := &random{pos: keep + block}
	copy(g.x[block+keep-lag:], state[:])
	return g
}

// peekDraws gives the next numbers of the sequence, at least n of them (n ≤ keep), as raw words:
// rand() is a word >> 1. They are valid until the next call, and used takes them out of the
// sequence.
func (g *random) peekDraws(n int) []uint32 {
	if len(g.x)-g.pos < n {
		g.fillBlock()
	}
	return g.x[g.pos:]
}

// skipDraws takes n numbers that draws gave out of the sequence.
func (g *random) skipDraws(n int) { g.pos += n }

// fillBlock makes a block of new numbers behind those not yet handed out.
func (g *random) fillBlock() {
	copy(g.x[:keep], g.x[block:])
	g.pos -= block
	// The three interleaved chains x[n], x[n-3], x[n-6], … run in parallel in registers.
	a := g.x[keep-3]
	b := g.x[keep-2]
	c := g.x[keep-1]
	for i := 0; i < block; i += 3 {
		in := (*[3]uint32)(g.x[keep-lag+i:])
		out := (*[3]uint32)(g.x[keep+i:])
		a += in[0]
		b += in[1]
		c += in[2]
		out[0] = a
		out[1] = b
		out[2] = c
	}
}

// jumpAhead gives the state n steps after state, for any n, in O(log n): the recurrence is linear,
// so x[m+n] is a fixed combination of x[m] … x[m+30], whose coefficients are those of z^n modulo
// z^31 − z^28 − 1.
func jumpAhead(state [lag]uint32, n uint64) (after [lag]uint32) {
	c := powerOfZ(n)
	var x [2*lag - 1]uint32
	copy(x[:], state[:])
	for i := lag; i < len(x); i++ {
		x[i] = x[i-3] + x[i-lag]
	}
	for m := range after {
		for j, cj := range c {
			after[m] += cj * x[m+j]
		}
	}
	return after
}

// powerOfZ gives the coefficients of z^n modulo z^31 − z^28 − 1, over the integers modulo 2^32.
func powerOfZ(n uint64) [lag]uint32 {
	p := [lag]uint32{1}
	for bit := bits.Len64(n) - 1; bit >= 0; bit-- {
		var sq [2 * lag]uint32 // p², times z where the bit is set
		odd := int(n >> bit & 1)
		for i, a := range p {
			for j, b := range p {
				sq[i+j+odd] += a * b
			}
		}
		for i := len(sq) - 1; i >= lag; i-- {
			sq[i-3] += sq[i]
			sq[i-lag] += sq[i]
		}
		copy(p[:], sq[:])
	}
	return p
}

// scaleBelow is floor(n · rand() / 2^31) of a raw word, for n up to 2^22: there the product is
// exact in a double, and whole numbers give the same.
func scaleBelow(n uint64, x uint32) uint64 { return n * uint64(x>>1) >> 31 }

// belowFloat is the same for any n, in the doubles that DS2 computes in: above 2^53 the product is
// rounded before the division, and that rounding is part of the result. Dividing by a power of two
// is exact.
func belowFloat(n float64, x uint32) uint64 {
	return uint64(int64(float64(n*float64(x>>1)) * (1.0 / (1 << 31))))
}
