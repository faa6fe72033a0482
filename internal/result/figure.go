package result

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
)

// The figures by which runs are compared.
const (
	OPM  = "OPM"  // cycles of users completed a minute
	IOPS = "IOPS" // reads and writes a second of the drives that hold the data
)

// Figure is the figure by which runs are compared.
type Figure struct {
	Unit  string  `json:"unit"` // OPM, IOPS, or what else the workload counts a minute
	Value float64 `json:"value"`
	// half the width of its 95 % interval within the run; absent: unknown
	CI95    *float64 `json:"ci95,omitempty"`
	PerWatt *float64 `json:"per_watt,omitempty"` // of active power
}

// Headline is the figure that counts. Where it is OPM or IOPS its value stands under that key too,
// for scripts.
type Headline struct {
	// absent: there is none, because a run ended before its first window did
	Figure *Figure  `json:"figure,omitempty"`
	OPM    *float64 `json:"opm"`
	IOPS   *float64 `json:"iops,omitempty"`
}

// NewHeadline is the one of a figure; of none where f is nil.
func NewHeadline(f *Figure) Headline {
	h := Headline{Figure: f}
	switch {
	case f == nil:
	case f.Unit == OPM:
		h.OPM = &f.Value
	case f.Unit == IOPS:
		h.IOPS = &f.Value
	}
	return h
}

// Value is that of the figure; nil where there is none.
func (h Headline) Value() *float64 {
	if h.Figure == nil {
		return nil
	}
	return &h.Figure.Value
}

// CI95 is that of the figure; nil where it is not known.
func (h Headline) CI95() *float64 { return h.known().CI95 }

// PerWatt is the figure by active watts; nil where it is not known.
func (h Headline) PerWatt() *float64 { return h.known().PerWatt }

// known is the figure; where there is none, one of which nothing is known.
func (h Headline) known() Figure { return *cmp.Or(h.Figure, new(Figure)) }

// check says what is wrong with a headline that was read.
func (h Headline) check() error {
	if v := h.Value(); v != nil && *v < 0 {
		return fmt.Errorf("its result of %g %s is negative", *v, h.Figure.Unit)
	}
	if !reflect.DeepEqual(h, NewHeadline(h.Figure)) {
		return errors.New("its opm or iops is not its result")
	}
	return nil
}

// Section is a part of a run's report that its workload makes, as a table in words.
type Section struct {
	Title string     `json:"title"`
	Notes []string   `json:"notes,omitempty"` // sentences
	Head  []string   `json:"head"`
	Rows  [][]string `json:"rows"` // each as long as Head
	// columns hold words, not figures to line up on the right
	Words bool `json:"words,omitempty"`
}
