package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// Equal is by how much a configuration of an experiment's file differs from the first of the file
// in the main figure, over all values of the file's factors, each against the same value.
type Equal struct {
	Difference
	Factors []string `json:"factors"` // such as threads
	// Depends are the values at which the difference is another than on average, with what it is
	// there.
	Depends []string `json:"depends,omitempty"`
}

// level is a configuration's values of the factors in words: "threads 32".
func (c Configuration) level() string {
	var all []string
	for _, f := range c.Factors {
		all = append(all, f.Flag+" "+f.Value)
	}
	return strings.Join(all, ", ")
}

// cell is where a figure of an experiment with factors stands: a configuration of the file, the
// values of the factors and the block.
type cell struct {
	of, level string
	block     int
}

type cells map[cell]measure.RunFigure

// newCells gives the cells, and the configurations and the values in the order of the file; nil
// where the experiment is not of two configurations or more that have each value: a value that one
// of them lacks could not be told from that configuration.
func newCells(all []Configuration) (c cells, names, levels []string) {
	c = cells{}
	for _, one := range all {
		v := valuesOf(one, StatedOf(all).Of)
		if one.Of == "" || v.noRatio() != "" {
			return nil, nil, nil
		}
		names = result.AddNew(names, one.Of)
		levels = result.AddNew(levels, one.level())
		for _, f := range v.byBlock() {
			f.Configuration = one.Of
			c[cell{one.Of, one.level(), f.Block}] = f
		}
	}
	if len(names) < 2 || len(levels) < 2 || len(names)*len(levels) != len(all) {
		return nil, nil, nil
	}
	return c, names, levels
}

// means are those over all values, by configuration and block, in the order of the runs: the
// geometric one of the runs, since effects are factors, at the sum of their numbers, by which the
// drift of a mean is told from those of others. A block in which a run is missing has none.
func (c cells) means(levels []string) (means []measure.RunFigure) {
	for at, first := range c {
		if at.level != levels[0] {
			continue
		}
		mean := measure.RunFigure{Block: at.block, Configuration: first.Configuration}
		sum := 0.
		whole := true
		for _, level := range levels {
			at.level = level
			f, has := c[at]
			whole = whole && has
			mean.Run += f.Run
			sum += math.Log(f.Value)
		}
		if mean.Value = math.Exp(sum / float64(len(levels))); whole {
			means = append(means, mean)
		}
	}
	slices.SortFunc(means, func(a, b measure.RunFigure) int { return a.Run - b.Run })
	return means
}

// AtEqualFactors are the main effects of an experiment's configurations, and where they depend on a
// factor: the interaction, by the same blocks.
func AtEqualFactors(all []Configuration, looks float64) (equal []Equal) {
	c, names, levels := newCells(all)
	if c == nil {
		return nil
	}
	means := c.means(levels)
	if len(means) == 0 {
		return nil
	}
	stated := measure.WithFirst(len(names))
	depends := len(levels) * (len(names) - 1)
	if len(levels) == 2 { // what is more at one is less at the other
		depends = len(names) - 1
	}
	for _, by := range measure.Differences(names, means, stated, looks) {
		e := Equal{Difference: newDifference(all[0], StatedOf(all), by)}
		e.Medians = e.Percent // a block's figure is a mean of several runs
		e.Interim = interim(all[0])
		for _, f := range all[0].Factors {
			e.Factors = append(e.Factors, f.Flag)
		}
		// By which factor a run is better than its configuration's mean in that block, and how much
		// later than the mean it ran. The difference of this between two configurations is their
		// interaction with the factor; what the block or the value does to both cancels.
		two := []string{by.Base, by.Other}
		for _, level := range levels {
			var rest []measure.RunFigure
			for _, mean := range means {
				if slices.Contains(two, mean.Configuration) {
					f := c[cell{mean.Configuration, level, mean.Block}]
					f.Run = f.Run*len(levels) - mean.Run
					f.Value /= mean.Value
					rest = append(rest, f)
				}
			}
			slices.SortStableFunc(rest,
				func(a, b measure.RunFigure) int { return a.Block - b.Block })
			of := measure.Differences(two, rest, measure.Apart(depends), looks)[0].Change
			if of.Significant() {
				there := 100 * ((1+by.Change.Percent/100)*(1+of.Percent/100) - 1)
				e.Depends = append(e.Depends, fmt.Sprintf("%s at %s", e.PercentText(there), level))
			}
		}
		equal = append(equal, e)
	}
	return equal
}

// findEqual finds the main effects of factors, and where they depend on others.
func (c *Comparison) findEqual() {
	for _, e := range c.Equal {
		text := fmt.Sprintf("%s of %s at equal %s: %s", c.Title(e.Metric), e.Name,
			strings.Join(e.Factors, " and "), e.Text())
		if c.Doubt(e.Against, e.Name) != nil {
			text += ", an estimate only"
		}
		c.add(result.DifferenceFound, text, e.Name, e.Against)
		if depends := e.Dependence(); depends != "" {
			c.add(result.FactorsDepend, depends, e.Name, e.Against)
		}
	}
}

// Dependence says where a difference is another than on average; empty: no such value was found.
func (e Equal) Dependence() string {
	if len(e.Depends) == 0 {
		return ""
	}
	return fmt.Sprintf("The difference of %s from %s depends on %s: it is %s", e.Name, e.Against,
		strings.Join(e.Factors, " and "), strings.Join(e.Depends, ", "))
}
