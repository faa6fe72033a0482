package driver

import (
	"cmp"
	"math"
)

// Pacer finds the rate of orders at which the drives do a wanted number of reads and writes a second. It is told at
// even intervals what came of its rate, and corrects it by the mean I/Os per order over the last samples: those come in
// bursts, such as of a server's cleaning up, and a rate that followed single samples would never settle. Once the rate
// has been within Tolerance of what that average asks for InARow times, it is kept: one that went on following the
// drives would hide what they do.
type Pacer struct {
	target  float64 // IOPS
	rate    float64 // orders a second
	wanted  float64 // the rate that the average asks for; 0: none yet
	inARow  int
	frozen  bool
	limited bool

	averaged    int // samples
	taken       int
	least, most float64 // I/Os per order
}

// How a Pacer corrects (mailbox/WORKLOAD.md section 5).
const (
	Tolerance  = 0.02
	InARow     = 4
	correction = 0.10 // of the rate, at most, at a time
	behind     = 0.95 // of the rate: a store that completes less cannot keep up
)

// NewPacer makes a pacer that averages over n samples, from what a first rate brought: orders and I/Os a second.
func NewPacer(target float64, averaged int, orders, iops float64) *Pacer {
	p := &Pacer{target: target, rate: orders, averaged: averaged}
	if iops > 0 {
		p.rate = orders * target / iops
	}
	return p
}

// Rate is the orders a second that are to be offered.
func (p *Pacer) Rate() float64 { return p.rate }

// Frozen says that the rate stays as it is.
func (p *Pacer) Frozen() bool { return p.frozen }

// Limited says that in the last sample the store did not complete what was offered, so that a higher rate would not
// help.
func (p *Pacer) Limited() bool { return p.limited }

// InARow is how many times on end the rate has been what the average asks for.
func (p *Pacer) InARow() int { return p.inARow }

// Sample takes what the last sample's users completed a second, and the mean I/Os per order over the last samples: not
// over each, since a server tells only at the end of a vacuum what that did.
func (p *Pacer) Sample(orders, each float64) {
	if p.frozen || each <= 0 {
		return
	}
	p.taken++
	p.least, p.most = min(cmp.Or(p.least, each), each), max(p.most, each)
	p.limited = orders < behind*p.rate
	p.wanted = p.target / each
	factor := p.wanted / p.rate
	if p.taken >= p.averaged && math.Abs(factor-1) <= Tolerance {
		if p.inARow++; p.inARow == InARow {
			p.Freeze()
		}
		return
	}
	p.inARow = 0
	if factor > 1 && p.limited {
		return
	}
	p.rate *= min(max(factor, 1-correction), 1+correction)
}

// Spread is the least and the most I/Os per order, on average, of all samples.
func (p *Pacer) Spread() (least, most float64) { return p.least, p.most }

// Freeze keeps the rate that the average asks for, or where the store cannot keep up the one that there is.
func (p *Pacer) Freeze() {
	if p.frozen || p.limited {
		return
	}
	p.rate = cmp.Or(p.wanted, p.rate)
	p.frozen = true
}
