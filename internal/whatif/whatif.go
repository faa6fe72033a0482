// Package whatif predicts what orders a store would do on a drive that nobody has yet, from that drive's record. Users
// without think time are a closed network of queues: N = X R, of users, rate and response time. R is the processors'
// part, the reads an order waits for, its waits for flushes of the log, and the writes of data that it waits for. Runs
// on drives of known latencies tell how much of each an order takes (fit.go), and what it comes to in the figure of its
// workload, such as IOPS.
//
// Nothing is run here.
package whatif

import (
	"math"

	"ds2/internal/device"
)

// Demand is what an order takes. Its logarithms are what is fitted.
type Demand struct {
	Processor float64 `json:"processor_s"` // seconds of one processor, and of whatever else waits for no drive
	Reads     float64 `json:"reads"`       // that an order waits for
	Flushes   float64 `json:"flushes"`     // of the log that an order waits for, as if each came to an idle log
	Writes    float64 `json:"writes"`      // of data that an order waits for; 0: no drive was slow to write
}

func (d Demand) terms() [terms]float64 {
	return [terms]float64{math.Log(d.Processor), math.Log(d.Reads), math.Log(d.Flushes), math.Log(d.Writes)}
}

func demandOf(t [terms]float64) Demand {
	return Demand{Processor: max(math.Exp(t[0]), LeastProcessor), Reads: math.Exp(t[1]), Flushes: math.Exp(t[2]),
		Writes: math.Exp(t[3])}
}

const terms = 4

// LeastProcessor is the processor time of an order, in seconds, of drives that take all of it: the runs cannot tell
// what it is.
const LeastProcessor = 1e-6

// LeastWrites are those of an order that are too few for the runs to tell.
const LeastWrites = 1e-3

// Drive is what the law knows of a drive: random reads by rising depth, and what a flush of the log and a write of data
// take in seconds. A write that takes none is one that nobody waits for.
type Drive struct {
	Name         string
	Reads        []device.Point
	Flush, Write float64
}

// DriveOf is the drive of a record.
func DriveOf(name string, r *device.Record) Drive {
	d := Drive{Name: name, Reads: r.Reads, Flush: r.Log.Mean}
	if len(r.Writes) > 0 {
		d.Write = r.Writes[0].Mean
	}
	return d
}

// faster is the drive with reads, flushes and writes that take a share of their time.
func (d Drive) faster(read, flush, write float64) Drive {
	faster := Drive{Name: d.Name, Flush: d.Flush * flush, Write: d.Write * write}
	for _, p := range d.Reads {
		p.Mean, p.IOPS = p.Mean*read, p.IOPS/read
		faster.Reads = append(faster.Reads, p)
	}
	return faster
}

// Balance is a store in balance: its rate, and where an order's time goes.
type Balance struct {
	Rate                    float64 // orders a second
	Processor, Read, Commit float64 // seconds of an order
	Write                   float64
	ReadLatency             float64 // seconds of a read at that rate
}

// solve finds the rate at which so many users are all somewhere. All parts of R grow with the rate, so there is one.
func (d Demand) solve(drive Drive, users, processors int) Balance {
	write := d.Writes * drive.Write
	low, high := 0., float64(users)/(d.Processor+d.Reads*drive.Reads[0].Mean+d.Flushes*drive.Flush+write)
	curve := (&device.Record{Reads: drive.Reads}).Curve()
	at := func(rate float64) Balance {
		latency := curve.LatencyAt(rate * d.Reads)
		return Balance{
			Rate: rate, Processor: d.processor(rate, users, processors), Commit: d.commit(rate, drive.Flush, users),
			Read: d.Reads * latency, ReadLatency: latency, Write: write,
		}
	}
	for range 45 {
		middle := (low + high) / 2
		if b := at(middle); middle*(b.Processor+b.Read+b.Commit+b.Write) < float64(users) {
			low = middle
		} else {
			high = middle
		}
	}
	b := at(low)
	// At a bound of the drive's reads those wait who are nowhere else.
	b.Read = float64(users)/low - b.Processor - b.Commit - b.Write
	b.ReadLatency = b.Read / d.Reads
	return b
}

// processor is the time of an order at the processors: a queue of several servers as one that is so many times as
// fast, and a delay (A. Seidmann, P. J. Schweitzer and S. Shalev-Oren, 1987), where an arriving user finds the others
// (Schweitzer's approximate MVA).
func (d Demand) processor(rate float64, users, processors int) float64 {
	fast := d.Processor / float64(processors)
	queue := 1 - rate*fast*float64(users-1)/float64(users)
	if queue <= 0 {
		return math.Inf(1)
	}
	return fast/queue + d.Processor - fast
}

// commit is how long an order waits for flushes of the log. One flush serves all who wait when it begins: who comes
// while one is under way waits for its end, half of it on average, and for the next. With arrivals at random in a
// share busy of the time one is.
func (d Demand) commit(rate, flush float64, users int) float64 {
	others := rate * d.Flushes * flush * float64(users-1) / float64(users) // commits in the time of a flush
	busy := others / (others + math.Exp(-others))
	return d.Flushes * flush * (1 + busy/2)
}
