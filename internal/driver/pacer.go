package driver

import "math"

// Pacer finds the rate of orders at which the drives do a wanted number of reads and writes a second. It is told at
// even intervals what came of its rate, corrects it until InARow samples in a row are within Tolerance of the target,
// and then keeps it: a rate that went on following the drives would hide what they do.
type Pacer struct {
	target  float64 // IOPS
	rate    float64 // orders a second
	inARow  int
	frozen  bool
	limited bool

	recent [Averaged]struct{ orders, iops float64 } // the last samples
	taken  int
}

// How a Pacer corrects (mailbox/WORKLOAD.md section 5).
const (
	Tolerance  = 0.02
	InARow     = 4
	Averaged   = 8    // samples by which the rate is set at last where no samples in a row agree
	correction = 0.10 // of the rate, at most, at a time
	behind     = 0.95 // of the rate: a store that completes less cannot keep up
)

// NewPacer makes a pacer from what a first rate brought: orders and I/Os a second.
func NewPacer(target, orders, iops float64) *Pacer {
	p := &Pacer{target: target, rate: orders}
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

// Sample takes what the last sample's users completed and the drives did, both a second.
func (p *Pacer) Sample(orders, iops float64) {
	if p.frozen || iops <= 0 {
		return
	}
	last := &p.recent[p.taken%Averaged]
	p.taken++
	last.orders, last.iops = orders, iops
	p.limited = orders < behind*p.rate
	if math.Abs(iops-p.target) <= Tolerance*p.target {
		p.inARow++
		p.frozen = p.inARow == InARow
		return
	}
	p.inARow = 0
	factor := p.target / iops
	if factor > 1 && p.limited {
		return
	}
	p.rate *= min(max(factor, 1-correction), 1+correction)
}

// Freeze keeps the rate as it is where it has settled, or where the store cannot keep up. Otherwise it sets it to what
// the target takes by the I/Os that an order took on average over the last samples: where they come in bursts, such as
// those of a server's cleaning up, a rate that follows single samples ends far from it.
func (p *Pacer) Freeze() {
	if p.frozen || p.limited {
		return
	}
	var orders, iops float64
	for _, s := range p.recent {
		orders, iops = orders+s.orders, iops+s.iops
	}
	if iops > 0 && orders > 0 {
		p.rate = p.target * orders / iops
	}
	p.frozen = true
}
