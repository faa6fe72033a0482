package driver

import "math"

// Pacer finds the rate of orders at which the drives do a wanted number of reads and writes a second. It is told at
// even intervals what came of its rate, and corrects it by the I/Os that an order took on average over the last
// samples: those come in bursts, such as of a server's cleaning up, and a rate that followed single samples would never
// settle. Once the rate has been within Tolerance of what that average asks for InARow times, it is kept: one that went
// on following the drives would hide what they do.
type Pacer struct {
	target  float64 // IOPS
	rate    float64 // orders a second
	inARow  int
	frozen  bool
	limited bool

	recent []paced // the last samples
	taken  int
}

// paced is what a sample had, both a second.
type paced struct{ orders, iops float64 }

// How a Pacer corrects (mailbox/WORKLOAD.md section 5).
const (
	Tolerance  = 0.02
	InARow     = 4
	correction = 0.10 // of the rate, at most, at a time
	behind     = 0.95 // of the rate: a store that completes less cannot keep up
)

// NewPacer makes a pacer that averages over so many samples, from what a first rate brought: orders and I/Os a second.
func NewPacer(target float64, averaged int, orders, iops float64) *Pacer {
	p := &Pacer{target: target, rate: orders, recent: make([]paced, averaged)}
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

// Sample takes what the last sample's users completed and the drives did, both a second.
func (p *Pacer) Sample(orders, iops float64) {
	if p.frozen || iops <= 0 {
		return
	}
	p.recent[p.taken%len(p.recent)] = paced{orders, iops}
	p.taken++
	p.limited = orders < behind*p.rate
	factor := p.wanted() / p.rate
	if p.taken >= len(p.recent) && math.Abs(factor-1) <= Tolerance {
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

// wanted is the rate by the I/Os per order in the last samples.
func (p *Pacer) wanted() float64 {
	var all paced
	for _, s := range p.recent {
		all.orders += s.orders
		all.iops += s.iops
	}
	if all.iops == 0 || all.orders == 0 {
		return p.rate
	}
	return p.target * all.orders / all.iops
}

// Spread is the least and the most I/Os of an order in the last samples.
func (p *Pacer) Spread() (least, most float64) {
	least = math.Inf(1)
	for _, s := range p.recent[:min(p.taken, len(p.recent))] {
		least, most = min(least, s.iops/s.orders), max(most, s.iops/s.orders)
	}
	return least, most
}

// Freeze keeps the rate that the average asks for, or where the store cannot keep up the one that there is.
func (p *Pacer) Freeze() {
	if p.frozen || p.limited {
		return
	}
	p.rate = p.wanted()
	p.frozen = true
}
