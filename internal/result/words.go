package result

// Words are what a workload calls what its users do again and again: on the terminal, on the live page and in reports.
type Words struct {
	Cycle  string `json:"cycle"`            // "order"
	Cycles string `json:"cycles"`           // "orders"
	Rate   string `json:"rate"`             // of cycles a minute: "OPM"
	Undone string `json:"undone,omitempty"` // cycles that were carried out and left nothing behind: "rollbacks"; empty: there are none
	Unit   string `json:"unit"`             // of the figure that counts: OPM or IOPS
}

// orders are DVD Store 2's words, which its records leave out.
var orders = Words{Cycle: "order", Cycles: "orders", Rate: OPM, Undone: "rollbacks", Unit: OPM}

// Orders are the words of DVD Store 2, and of records without words.
func Orders() Words { return orders }

// Kept is words as a record keeps them.
func (w Words) Kept() *Words {
	if w == orders {
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
