package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/result"
	"ds2/internal/texttest"
	"ds2/internal/whatif"
)

// TestDisclosure: what is missing is called not stated, and a price gives the figure by it.
func TestDisclosure(t *testing.T) {
	hdd := Configuration{Name: "hdd", Bench: result.Bench{Headline: result.NewHeadline(&result.Figure{Unit: result.OPM, Value: 50000})}}
	hdd.Setup.Parameters.Disclosure = map[string]string{"raid": "10", "price": "20,000 USD"}
	rows := fmt.Sprint(disclosureTable([]Configuration{hdd, {Name: "ssd"}}).Rows)
	texttest.Contains(t, rows,
		"[raid 10 not stated]", "[firmware not stated not stated]", "[per 1,000 of the price's currency 2,500 OPM per 1,000 USD not stated]")
}

// TestDisclosureOnEveryPage: of a run, a bench and a comparison; the version is on those of what has no disclosure too.
func TestDisclosureOnEveryPage(t *testing.T) {
	found := search()
	found.KitVersion = "test"
	for name, page := range map[string]Page{
		"search": Search(found, nil), "backup": Backup(result.Backup{KitVersion: "test"}),
		"model": Whatif(whatif.Model{KitVersion: "test"}, 1, nil, nil),
	} {
		if byline := page.views[0].Byline; !strings.Contains(byline, "ds2 test · method of that version") {
			t.Errorf("the page of a %s lacks the version: %s", name, byline)
		}
	}
	hdd, ssd := arrays(16, 16)
	for name, page := range map[string]Page{"run": Runs(record(t, nil)), "bench": hdd.Page(), "comparison": Compare([]Configuration{hdd, ssd}).Page()} {
		var b strings.Builder
		require.NoError(t, page.HTML(&b))
		if !strings.Contains(b.String(), "<summary>Disclosure</summary>") || !strings.Contains(b.String(), "method of that version") {
			t.Errorf("the page of a %s lacks the disclosure or the version", name)
		}
	}
}
