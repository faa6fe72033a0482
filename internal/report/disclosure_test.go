package report

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/compare"
	"ds2/internal/result"
	"ds2/internal/texttest"
)

// TestDisclosure: what is missing is called not stated, and a price gives the figure by it.
func TestDisclosure(t *testing.T) {
	hdd := compare.Configuration{Name: "hdd"}
	hdd.Headline = result.NewHeadline(&result.Figure{Unit: result.OPM, Value: 50000})
	hdd.Spec.Disclosure = map[string]string{"raid": "10", "price": "20,000 USD"}
	rows := fmt.Sprint(disclosureTable([]compare.Configuration{hdd, {Name: "ssd"}}).Rows)
	texttest.Contains(t, rows,
		"[raid 10 not stated]", "[firmware not stated not stated]",
		"[per 1,000 of the price's currency 2,500 OPM per 1,000 USD not stated]")
}

// TestDisclosureOnEveryPage: of a run, a bench and a comparison; the version is on those of what has no disclosure too.
func TestDisclosureOnEveryPage(t *testing.T) {
	found := search()
	found.KitVersion = "test"
	assert.Contains(t, Search(found).views[0].Byline, "ds2 test", "the page of a search")
	hdd, ssd := arrays(16, 16)
	for name, page := range map[string]Page{"run": Runs(record(t, nil)), "bench": Bench(hdd),
		"comparison": Comparison(compare.WithFirst([]compare.Configuration{hdd, ssd}))} {
		html := written(t, page)
		assert.Contains(t, html, "<summary>Disclosure</summary>", "the page of a %s", name)
		assert.Contains(t, html, "· ds2 test", "the page of a %s", name)
	}
}
