package driver

import (
	"cmp"
	"math"
)

// Pacer finds the rate of orders at which the drives do a wanted number of reads and writes a
// second. It is told at even intervals what came of its rate, and corrects it by the mean I/Os per
// order over the last samples: those come in bursts, such as of a server's cleaning up, and a rate
// that followed single samples would never settle. Once the rate has been within Tolerance of what
// that average asks for InARow times, it is kept: one that went on following the drives would hide
// what they do.
type Pacer struct {
	Rate   float64 // orders a second that are to be offered
	Frozen bool    // the rate stays as it is
	// the store did not complete what was offered in the last sample: a higher rate would not help
	Limited bool
	InARow  int // times on end that the rate has been what the average asks for

	Least, Most float64 // I/Os per order, on average, of all samples

	target   float64 // IOPS
	wanted   float64 // the rate that the average asks for; 0: none yet
	averaged int     // samples
	taken    int
}

// How a Pacer corrects (mailbox/WORKLOAD.md section 5).
const (
	Tolerance  = 0.02
	InARow     = 4
	correction = 0.10 // of the rate, at most, at a time
	behind     = 0.95 // of the rate: a store that completes less cannot keep up
)

// NewPacer makes a pacer that averages over n samples, from what a first rate brought: orders and
// I/Os a second, which are not 0.
func NewPacer(target float64, averaged int, orders, iops float64) *Pacer {
	return &Pacer{target: target, Rate: orders * target / iops, averaged: averaged}
}

// Sample takes what the last sample's users completed a second, and the mean I/Os per order over
// the last samples: not over each, since a server tells only at the end of a vacuum what that did.
func (p *Pacer) Sample(orders, each float64) {
	if p.Frozen {
		return
	}
	p.taken++
	p.Least, p.Most = min(cmp.Or(p.Least, each), each), max(p.Most, each)
	p.Limited = orders < behind*p.Rate
	p.wanted = p.target / each
	factor := p.wanted / p.Rate
	if p.taken >= p.averaged && math.Abs(factor-1) <= Tolerance {
		if p.InARow++; p.InARow == InARow {
			p.Freeze()
		}
		return
	}
	p.InARow = 0
	if factor > 1 && p.Limited {
		return
	}
	p.Rate *= min(max(factor, 1-correction), 1+correction)
}

// Freeze keeps the rate that the average asks for, or where the store cannot keep up the one that
// there is.
func (p *Pacer) Freeze() {
	if p.Frozen || p.Limited {
		return
	}
	p.Rate = cmp.Or(p.wanted, p.Rate)
	p.Frozen = true
}
