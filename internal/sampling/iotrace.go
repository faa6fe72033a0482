package sampling

import (
	"cmp"
	"context"
	"strings"

	"ds2/internal/iotrace"
	"ds2/internal/measure"
)

// IOTrace is the times of every I/O of the drives under the databases, by drive and what the I/O
// was for.
type IOTrace struct {
	drives []string
	tracer *iotrace.Tracer
}

// OpenIOTrace begins to trace the I/Os of drives, by what they are for: those of processes to files
// below directories.
func OpenIOTrace(
	drives []string,
	directories []iotrace.Directory,
	processes []int,
) (*IOTrace, error) {
	tracer, err := iotrace.Open(drives, directories, processes)
	if err != nil {
		return nil, err
	}
	return &IOTrace{drives, tracer}, nil
}

// Close ends the tracing.
func (t *IOTrace) Close() { t.tracer.Close() }

// Totals are the times since the tracing began, of those of which there are any.
func (t *IOTrace) Totals() ([]measure.Distribution, error) { return t.NewReader()() }

// NewReader makes a function that gives the times since it was called the last time, at first since
// the tracing began, by names such as "nvme0n1 log flush".
func (t *IOTrace) NewReader() func() ([]measure.Distribution, error) {
	was := make([][iotrace.Classes]iotrace.Histogram, len(t.drives))
	return func() (all []measure.Distribution, err error) {
		now, err := t.tracer.Read()
		for i := range now {
			for class := range iotrace.Classes {
				h := now[i][class].Since(was[i][class])
				d := measure.Counted(t.drives[i]+" "+class.String(), h.Sum, h.All())
				if d.Count() > 0 {
					all = append(all, d)
				}
			}
		}
		copy(was, now)
		return all, err
	}
}

// Source is the tracing second by second. Its figures are gauges: the running totals are a
// histogram, which is not one of them.
func (t *IOTrace) Source() Source {
	var names []string
	for _, drive := range t.drives {
		for class := range iotrace.Classes {
			names = append(names, drive+" "+class.String())
		}
	}
	read := t.NewReader()
	return itemSource("traced I/Os", "io", names, figureKinds["io"], func(context.Context) (readings, error) {
		gone := t.tracer.Look()
		all, err := read()
		values := readings{}
		for _, d := range all {
			values[d.Name] = []float64{
				d.Quantile(.5).Seconds(),
				d.Quantile(.99).Seconds(),
				d.Quantile(1).Seconds(),
			}
		}
		return values, cmp.Or(err, gone)
	})
}

// IOsFor merges the times of one kind of I/O, such as "log flush", over all drives, of which all
// are by drive and kind.
func IOsFor(kind string, all map[string]measure.Distribution) measure.Distribution {
	var some []measure.Distribution
	for name, d := range all {
		if strings.HasSuffix(name, " "+kind) {
			some = append(some, d)
		}
	}
	if len(some) == 0 {
		return measure.Distribution{}
	}
	return measure.Merge(kind, some...)
}
