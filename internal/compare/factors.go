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

// cells are the figures of an experiment with factors: of each configuration of the file, each
// value of the factors and each block.
type cells map[string]map[string]map[int]measure.RunFigure

// newCells gives the cells, and the configurations and the values in the order of the file; nil
// where the experiment is not of two configurations or more that have each value.
func newCells(all []Configuration) (c cells, names, levels []string) {
	c = cells{}
	for _, one := range all {
		v := valuesOf(one, StatedOf(all).Of)
		if one.Of == "" || v.noRatio() != "" {
			return nil, nil, nil
		}
		if c[one.Of] == nil {
			c[one.Of] = map[string]map[int]measure.RunFigure{}
			names = append(names, one.Of)
		}
		if !slices.Contains(levels, one.level()) {
			levels = append(levels, one.level())
		}
		blocks := map[int]measure.RunFigure{}
		for _, f := range v.byBlock() {
			blocks[f.Block] = f
		}
		c[one.Of][one.level()] = blocks
	}
	if len(names) < 2 || len(levels) < 2 || len(names)*len(levels) != len(all) {
		return nil, nil, nil
	}
	return c, names, levels
}

// means are those of a configuration over all values, by block: the geometric one of its runs, at
// the sum of their numbers.
func (c cells) means(name string, levels []string) map[int]measure.RunFigure {
	means := map[int]measure.RunFigure{}
	for block := range c[name][levels[0]] {
		sum := measure.RunFigure{Block: block, Configuration: name}
		whole := true
		for _, level := range levels {
			f, has := c[name][level][block]
			whole = whole && has
			sum.Run += f.Run
			sum.Value += math.Log(f.Value) / float64(len(levels))
		}
		if sum.Value = math.Exp(sum.Value); whole {
			means[block] = sum
		}
	}
	return means
}

// atEqualFactors are the main effects of an experiment's configurations, and where they depend on a
// factor: the interaction, by the same blocks.
func atEqualFactors(all []Configuration, looks float64) (equal []Equal) {
	c, names, levels := newCells(all)
	var figures []measure.RunFigure
	means := map[string]map[int]measure.RunFigure{}
	for _, name := range names {
		means[name] = c.means(name, levels)
		for _, f := range means[name] {
			figures = append(figures, f)
		}
	}
	if len(figures) == 0 {
		return nil
	}
	slices.SortFunc(figures, func(a, b measure.RunFigure) int { return a.Run - b.Run })
	stated := measure.WithFirst(len(names))
	depends := len(levels) * (len(names) - 1)
	if len(levels) == 2 { // what is more at one is less at the other
		depends = len(names) - 1
	}
	for _, by := range measure.Differences(names, figures, stated, looks)[:len(names)-1] {
		e := Equal{Difference: newDifference(StatedOf(all), by)}
		e.Figure = Comparison{Configurations: all}.Named(StatedOf(all).Name)
		e.Medians = e.Percent // a block's figure is a mean of several runs
		e.Interim = interim(all[0])
		for _, f := range all[0].Factors {
			e.Factors = append(e.Factors, f.Flag)
		}
		for _, level := range levels {
			var rest []measure.RunFigure
			for _, name := range []string{by.Base, by.Other} {
				for block, mean := range means[name] {
					f := c[name][level][block]
					f.Configuration = name
					f.Run = f.Run*len(levels) - mean.Run
					f.Value /= mean.Value
					rest = append(rest, f)
				}
			}
			slices.SortFunc(rest, func(a, b measure.RunFigure) int { return a.Block - b.Block })
			of := measure.Differences([]string{by.Base, by.Other}, rest,
				measure.Apart(depends), looks)[0].Change
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
			text += ", an estimate that does not count"
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
