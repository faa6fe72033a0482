package runs

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPaceBesideVacuums (J2): a vacuum in each minute has drives read and write for 40 s, and its
// server counts that at its end, or not apart. The rate settles within five minutes, and then the
// transactions do the target's I/Os within 5 %, or they and the vacuums do.
func TestPaceBesideVacuums(t *testing.T) {
	const target, each, most = 480, 1.65, 300 // I/Os: a second, and of an order; seconds
	for _, warmup := range []time.Duration{time.Minute, 10 * time.Minute} {
		for _, told := range []bool{true, false} {
			rate := 1.
			random := rand.New(rand.NewPCG(2, 1))
			second := 0
			vacuumed := 0.
			burst := 1.3
			if !told {
				burst = .3
			}
			p := newPace(target, warmup, func(r float64) { rate = r })
			rate = p.record.First
			for !p.kept {
				one := paced{seconds: p.length.Seconds()}
				for range int(one.seconds) {
					ios := rate * each * (1 + .1*random.NormFloat64())
					one.cycles += rate
					one.ios.Transactions += ios
					one.ios.Drives += ios
					if second%60 < 40 { // of a vacuum
						one.ios.Drives += burst * ios
						vacuumed += burst * ios
					}
					switch second++; second % 60 {
					case 40:
						one.ios.Vacuums += vacuumed
						vacuumed = 0
					case 20:
						one.ios.Vacuums += 20 // of one of the server's own tables
					}
				}
				if !told {
					one.ios.Transactions = math.NaN()
					one.ios.Vacuums = math.NaN()
				}
				one.ios.Drives /= one.seconds
				one.ios.Transactions /= one.seconds
				one.ios.Vacuums /= one.seconds
				p.take(one)
				require.LessOrEqual(t, second, most, "seconds; the rate is %g", rate)
			}
			iops := rate * each
			if !told {
				iops *= 1 + burst*40/60
			}
			assert.InEpsilon(t, target, iops, .05, "settled after %d s", second)
		}
	}
}
