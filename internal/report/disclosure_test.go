package report

import (
	"fmt"
	"strings"
	"testing"

	"ds2/internal/result"
)

// TestDisclosure: what is missing is called not stated, and a price gives the figure by it.
func TestDisclosure(t *testing.T) {
	e := Experiment{
		Experiment: result.Experiment{Configurations: []result.ExperimentConfiguration{
			{Name: "hdd", Disclosure: map[string]string{"raid": "10", "price": "20,000 USD"}}, {Name: "ssd"},
		}},
		Benches: []Configuration{{Name: "hdd", Bench: result.Bench{Headline: result.NewHeadline(&result.Figure{Unit: result.OPM, Value: 50000})}}, {Name: "ssd"}},
	}
	rows := fmt.Sprint(e.disclosureTable().Rows)
	for _, want := range []string{"[raid 10 not stated]", "[firmware not stated not stated]", "OPM per 1,000 of the price's currency 2,500.0 OPM per 1,000 USD not stated"} {
		if !strings.Contains(rows, want) {
			t.Errorf("no %q in %s", want, rows)
		}
	}
}
