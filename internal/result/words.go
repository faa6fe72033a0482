package result

import "reflect"

// Words are what a workload calls what its users do again and again: on the terminal, on the live page and in reports.
type Words struct {
	Cycle  string `json:"cycle"`            // "order"
	Cycles string `json:"cycles"`           // "orders"
	Rate   string `json:"rate"`             // of cycles a minute: "OPM"
	Undone string `json:"undone,omitempty"` // cycles that were carried out and left nothing behind, as which they are counted too: "rollbacks"; empty: there are none
	Unit   string `json:"unit"`             // of the figure that counts: OPM or IOPS

	Added   []CountWords `json:"added,omitempty"`    // counts that reports have besides those of cycles
	Losses  []CountWords `json:"losses,omitempty"`   // counts of a Cut that reports have besides that of lost cycles, by their names in a record
	InDoubt []CountWords `json:"in_doubt,omitempty"` // counts of what may or may not have been done, because its commit was cut off
}

// CountWords are what a workload calls one of its own counts.
type CountWords struct {
	Count string `json:"count"` // its name: "in_doubt_customers"
	Words string `json:"words"` // "new customers"
}

// orders are DVD Store 2's words, which its records leave out.
var orders = Words{
	Cycle: "order", Cycles: "orders", Rate: OPM, Undone: "rollbacks", Unit: OPM,
	Added:   []CountWords{{"new_customers", "new customers"}},
	Losses:  []CountWords{{"lost_customers", "new customers lost"}, {"stale", "products with older state"}},
	InDoubt: []CountWords{{"in_doubt_purchases", "purchases"}, {"in_doubt_customers", "new customers"}},
}

// Orders are the words of DVD Store 2, and of records without words.
func Orders() Words { return orders }

// Kept is words as a record keeps them.
func (w Words) Kept() *Words {
	if reflect.DeepEqual(w, orders) {
		return nil
	}
	return &w
}

// Or is the words that a record kept.
func (w *Words) Or() Words {
	if w == nil {
		return orders
	}
	return *w
}

// A is the cycle with its article: "an order".
func (w Words) A() string {
	switch w.Cycle[:min(len(w.Cycle), 1)] {
	case "a", "e", "i", "o", "u":
		return "an " + w.Cycle
	}
	return "a " + w.Cycle
}

// Title is the cycles at the beginning of a title: "Orders".
func (w Words) Title() string {
	if w.Cycles == "" {
		return ""
	}
	return string(w.Cycles[0]-'a'+'A') + w.Cycles[1:]
}
