package driver

import "math"

// Pacer finds the rate of orders at which the drives do a wanted number of reads and writes a second. It is told at even
// intervals what came of its rate, corrects it until Settled samples in a row are within Tolerance of the target, and then
// keeps it: a rate that went on following the drives would hide what they do.
type Pacer struct {
	target  float64 // IOPS
	rate    float64 // orders a second
	inARow  int
	frozen  bool
	limited bool
}

// How a Pacer corrects (mailbox/WORKLOAD.md section 5).
const (
	Tolerance  = 0.02
	Settled    = 4
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

// Limited says that in the last sample the store did not complete what was offered, so that a higher rate would not help.
func (p *Pacer) Limited() bool { return p.limited }

// Sample takes what the last sample's users completed and the drives did, both a second.
func (p *Pacer) Sample(orders, iops float64) {
	if p.frozen || iops <= 0 {
		return
	}
	p.limited = orders < behind*p.rate
	if math.Abs(iops-p.target) <= Tolerance*p.target {
		p.inARow++
		p.frozen = p.inARow == Settled
		return
	}
	p.inARow = 0
	factor := p.target / iops
	if factor > 1 && p.limited {
		return
	}
	p.rate *= min(max(factor, 1-correction), 1+correction)
}
