package result

// The figures by which runs are compared.
const (
	OPM  = "OPM"  // cycles of users completed a minute
	IOPS = "IOPS" // reads and writes a second of the drives that hold the data
)

// Figure is the figure by which a run is compared with others.
type Figure struct {
	Unit  string   // OPM or IOPS
	Value *float64 // nil: the run ended without one
	CI95  *float64 // half the width of its 95 % confidence interval within the run; nil: unknown
}

// Figure is the run's: IOPS where its workload is judged by them, and else cycles a minute.
func (s Summary) Figure() Figure {
	if s.IOPS != nil {
		return Figure{Unit: IOPS, Value: s.IOPS}
	}
	f := Figure{Unit: s.Words.Or().Rate, Value: s.OPM}
	if len(s.Windows) > 0 {
		f.CI95 = s.Windows[0].CI95
	}
	return f
}

// Section is a part of a run's report that its workload makes, as a table in words.
type Section struct {
	Title string     `json:"title"`
	Notes []string   `json:"notes,omitempty"` // sentences
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"`            // each as long as Head
	Words bool       `json:"words,omitempty"` // columns hold words, not figures to line up on the right
}

// FigureUnit names what the fields called opm of a record of several runs hold: OPM where it is empty.
type FigureUnit string

// UnitOf is the FigureUnit of a unit.
func UnitOf(unit string) FigureUnit {
	if unit == OPM {
		return ""
	}
	return FigureUnit(unit)
}

// String is the unit.
func (u FigureUnit) String() string {
	if u == "" {
		return OPM
	}
	return string(u)
}
