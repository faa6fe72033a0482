package compare

import (
	"fmt"
	"strings"

	"ds2/internal/diagnose"
	"ds2/internal/numbers"
)

// widestInterval is the half of an interval, in percent of its figure, up to which a result can be trustworthy.
const widestInterval = 5

// Lacks says in one line what a run, a bench or a comparison lacks to be trustworthy as a statement about storage;
// empty where it lacks nothing or has no result. It takes intervals of at most ± 5 % of the result, or of the ratio
// of two; storage as the limit of most runs of each configuration; no failed run; and configurations run alike.
func (c Comparison) Lacks() string {
	var lacks []string
	add := func(format string, args ...any) { lacks = append(lacks, fmt.Sprintf(format, args...)) }
	several, alike := len(c.Configurations) > 1, true
	for i, one := range c.Configurations {
		value := one.Value()
		if value == nil {
			return ""
		}
		what, half := "its interval", one.Half()
		if several {
			what, half = "the interval of the ratio of "+one.Name, nil
			if d := c.Of(one.Name, Main); d != nil && d.Low != nil {
				value, half = new(100+d.Percent), new(max(*d.High-d.Percent, d.Percent-*d.Low))
			}
		}
		switch {
		case several && i == 0:
		case half == nil && several:
			add("the difference of %s has no interval", one.Name)
		case half == nil:
			add("it has no interval")
		case *half > widestInterval/100.**value:
			share := 100 * *half / *value
			add("%s is ± %s %%, more than ± %d %%", what, numbers.Worth(share, share), widestInterval)
		}
	}
	for i, one := range c.Configurations {
		who, whose := "it", ""
		if several {
			who, whose = one.Name, " in runs of "+one.Name
		}
		switch by := Bottleneck(one.Bench); by {
		case diagnose.Storage:
		case "":
			add("what limited %s is unknown", who)
		default:
			add("%s was limited by %s", who, LimitedBy[by])
		}
		if failed := len(Failed(one.Bench)); failed > 0 {
			add("%d of %d runs of %s failed", failed, failed+len(Counted(one.Bench)), one.Name)
		}
		alike = alike && len(unlike(c.Configurations[0], c.Configurations[i])) == 0
		if len(changed(one)) > 0 {
			add("server or schema changed%s", whose)
		}
	}
	if !alike {
		add("they were not run alike")
	}
	if len(lacks) == 0 {
		return ""
	}
	last := len(lacks) - 1
	text := strings.Join(lacks[:last], ", ")
	if last > 0 {
		text += ", and "
	}
	return "Not yet a statement about storage: " + text + lacks[last]
}
