package load

import (
	"testing"
	"testing/synctest"
	"time"

	"ds2/datagen"
	"ds2/schema"
)

// estimates keeps what a Progress is told.
type estimates struct {
	noProgress
	at   []time.Duration
	left []time.Duration
	from time.Time
}

func (e *estimates) Done(_ float64, left time.Duration) {
	e.at, e.left = append(e.at, time.Since(e.from)), append(e.left, left)
}

// TestTimeLeft loads on a simulated server that builds faster or slower than the costs of the statements say, and expects the
// time left within 30 % from a tenth of the time on.
func TestTimeLeft(t *testing.T) {
	statements := []schema.Statement{
		{Name: "one", Table: "orders", Cost: 1}, {Name: "two", Table: "orders", Cost: 1}, {Name: "three", Table: "orders", Cost: 2},
	}
	parts := []datagen.Part{{Table: "orders", Rows: 1_000_000, Bytes: 0}}
	for _, c := range []struct {
		why   string
		build float64       // time of a unit of building, next to that of copying
		copy  time.Duration // of a thousand rows
	}{
		{"as the costs say", 1, 150 * time.Microsecond},
		{"building is faster", 0.8, 150 * time.Microsecond},
		{"building is slower", 1.35, 150 * time.Microsecond},
		{"a machine three times as slow", 1, 450 * time.Microsecond},
		{"a machine that is faster", 1, 60 * time.Microsecond},
		{"a slow drive", 0.65, 350 * time.Microsecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := &estimates{from: time.Now()}
			p := newCourse(e, parts, statements)
			p.Begin(PhaseData)
			for range 1000 {
				time.Sleep(c.copy)
				p.Copied("orders", 1000, 0)
			}
			p.Begin(schema.Indexes)
			for i, s := range statements {
				p.step(statements[i : i+1])
				p.Statement(schema.Indexes, s.Name, false)
				for share := range 100 {
					time.Sleep(time.Duration(s.Cost * c.build * 10 * float64(c.copy)))
					p.built(map[string]float64{s.Name: float64(share+1) / 100})
				}
				p.Statement(schema.Indexes, s.Name, true)
			}
			took := time.Since(e.from)
			for i, at := range e.at {
				want := took - at
				if at < took/10 || want < took/50 { // the last moments count for nobody
					continue
				}
				if off := e.left[i].Seconds()/want.Seconds() - 1; off < -0.3 || off > 0.3 {
					t.Fatalf("%s: after %s of %s, %s left were estimated: %.0f %% off", c.why, at, took, e.left[i], 100*off)
				}
			}
		})
	}
}
