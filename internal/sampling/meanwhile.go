package sampling

import (
	"context"
	"slices"
	"time"

	"ds2/internal/topology"
)

// ReadsDuring does some work, and says how many reads a second the drives of the data served
// meanwhile, by the counters of sources before and after it, and how many seconds one took on
// average; nil where they are not known or served none. The error is that of the work.
func ReadsDuring(
	ctx context.Context,
	sources []Source,
	machine *topology.Machine,
	work func() error,
) (reads, mean *float64, err error) {
	var read []Source
	var before [][]float64
	for _, s := range sources {
		if s.countsReads() {
			read = append(read, s)
			before = append(before, s.values(ctx))
		}
	}
	start := time.Now()
	err = work()
	end := time.Now()
	seconds := end.Sub(start).Seconds()
	// The whole time as one sample, so that the figures of a run's drives apply to it.
	d := Drives{Machine: machine, From: start, To: end}
	row := Row{Time: end}
	for i, s := range read {
		after := s.values(ctx)
		for _, c := range s.Columns {
			d.Counters.Columns = append(d.Counters.Columns, c.Name)
			row.Values = append(row.Values, c.Value(seconds, before[i], after))
			row.Covers = append(row.Covers, seconds)
		}
	}
	d.Counters.Rows = []Row{row}
	io := d.sumIO(d.items(DiskReads, topology.Data)...)
	if io.ReadMean == nil {
		return nil, nil, err
	}
	perSecond := io.Reads
	return &perSecond, io.ReadMean, err
}

// countsReads says that a source counts the reads of drives.
func (s Source) countsReads() bool {
	return slices.ContainsFunc(s.Columns, func(c Column) bool {
		column, _ := SplitColumn(c.Name)
		return column == DiskReads
	})
}

// values are what the source shows now; NaN where it does not.
func (s Source) values(ctx context.Context) []float64 {
	values := unknown(len(s.Figures))
	if s.Read(ctx, values) != nil {
		return unknown(len(s.Figures))
	}
	return values
}
