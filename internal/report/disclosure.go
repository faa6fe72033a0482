package report

import (
	"fmt"

	"ds2/internal/result"
)

const notStated = "not stated"

// disclosureTable is what was stated of the configurations, and what was not; with prices, also their figures by them.
func (e Experiment) disclosureTable() table {
	t := table{Caption: "Disclosure", Head: []string{"what"}, Words: true}
	perPrice := []string{""}
	for _, c := range e.Configurations {
		t.Head = append(t.Head, c.Name)
		figure := notStated
		for _, b := range e.Benches {
			amount, currency, err := result.ParsePrice(c.Disclosure[result.PriceKey])
			if b.Name == c.Name && b.Figure != nil && err == nil {
				perPrice[0] = b.Unit() + " per 1,000 of the price's currency"
				figure = fmt.Sprintf("%s %s per 1,000 %s", number(b.Figure.Value/amount*1000, 1), b.Unit(), currency)
			}
		}
		perPrice = append(perPrice, figure)
	}
	for _, key := range result.Disclosures {
		row := []string{key}
		for _, c := range e.Configurations {
			stated := c.Disclosure[key]
			if stated == "" {
				stated = notStated
			}
			row = append(row, stated)
		}
		t.Rows = append(t.Rows, row)
	}
	if perPrice[0] != "" {
		t.Rows = append(t.Rows, perPrice)
	}
	return t
}
