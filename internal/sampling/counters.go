package sampling

import (
	"cmp"
	"context"
	_ "embed" // figures.tsv
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"

	"ds2/internal/datatable"
)

// kind is what is counted of an item or of several: a figure, the column that is made of it, or
// both.
type kind struct {
	figure, column string
	how, help      string     // as figures.tsv has them
	derive         derivation // from the item's figures, where how does not say it
}

//go:embed figures.tsv
var figuresTable string

// figureKinds are the figures that can be read, by whose they are, in the order of their readings.
var figureKinds = readKinds()

// readKinds reads the embedded figures.tsv.
func readKinds() map[string][]kind {
	all := map[string][]kind{}
	for _, row := range datatable.Rows(figuresTable, 5) {
		k := kind{figure: row[1], column: row[2], how: row[3], help: row[4]}
		all[row[0]] = append(all[row[0]], k)
	}
	return all
}

// findDivisor is the place of the figure for each of whose units that of a kind is counted; below 0
// where there is none.
func findDivisor(kinds []kind, of kind) int {
	return slices.IndexFunc(kinds, func(k kind) bool { return of.how == "per "+k.figure })
}

// deriveColumn says how the column of one of some kinds is made of the figures of all.
func deriveColumn(kinds []kind, i int) derivation {
	k := kinds[i]
	if k.derive != nil {
		return k.derive
	}
	if divisor := findDivisor(kinds, k); divisor >= 0 {
		return ratio(i, divisor)
	}
	switch k.how {
	case "gauge", "statistic":
		return gauge(i)
	case "share":
		return atMostOne(rate(i))
	}
	return rate(i)
}

// add adds the figures of an item, which may have another name in columns, and gives the place of
// the first. Kinds without a figure come last.
func (s *Source) add(label, item, inColumns string, kinds ...kind) (at int) {
	at = len(s.Figures)
	for i, k := range kinds {
		if k.figure != "" {
			s.Figures = append(s.Figures, Figure{k.figure, k.help, label, item})
		}
		if k.column != "" {
			column := Column{ItemColumn(k.column, inColumns), at, deriveColumn(kinds, i)}
			s.Columns = append(s.Columns, column)
		}
	}
	return at
}

// readings are the figures of items by their names. An item that is gone has none.
type readings = map[string][]float64

// items adds the figures of several, and gives what puts readings of them among the values.
func (s *Source) items(
	label string, names []string, kinds func(item string) []kind,
) (put func(values []float64, all readings)) {
	places := map[string]int{}
	for _, item := range names {
		places[item] = s.add(label, item, item, kinds(item)...)
	}
	return func(values []float64, all readings) {
		for item, at := range places {
			copy(values[at:], all[item])
		}
	}
}

// singleSource reads the figures of one thing, which may have another name in columns.
func singleSource(
	name, label, item, inColumns string,
	kinds []kind,
	read func(context.Context) ([]float64, error),
) Source {
	src := Source{Name: name, Read: func(ctx context.Context, values []float64) error {
		now, err := read(ctx)
		copy(values, now)
		return err
	}}
	src.add(label, item, inColumns, kinds...)
	return src
}

// itemSource reads the figures of items.
func itemSource(
	name, label string, items []string, kinds []kind, read func(context.Context) (readings, error),
) Source {
	src := Source{Name: name}
	put := src.items(label, items, func(string) []kind { return kinds })
	src.Read = func(ctx context.Context, values []float64) error {
		all, err := read(ctx)
		put(values, all)
		return err
	}
	return src
}

// Places among the figures of a drive.
const (
	diskReads         = 0
	diskWrites        = 1
	diskReadSeconds   = 4
	diskWriteSeconds  = 5
	diskBusySeconds   = 6
	diskQueueSeconds  = 7
	diskFlushes       = 8
	diskFlushSeconds  = 9
	diskJournalWrites = 10
)

// meanOfCPUs is the mean rate of the i-th of the two figures of n CPUs.
func meanOfCPUs(i, cpus int) derivation {
	return func(seconds float64, was, now []float64) float64 {
		sum := 0.0
		for n := range cpus {
			sum += rate(2*n+i)(seconds, was, now)
		}
		return sum / float64(cpus)
	}
}

// linkKinds are the bytes in and out of an interface, and how much of its link's speed, in bytes a
// second, they use where that is known.
func linkKinds(speed float64) []kind {
	kinds := slices.Clone(figureKinds["link"])
	if speed > 0 {
		kinds = append(
			kinds,
			kind{column: NetworkUsed, derive: func(seconds float64, was, now []float64) float64 {
				return max(rate(0)(seconds, was, now), rate(1)(seconds, was, now)) / speed
			}},
		)
	}
	return kinds
}

// inOrder gives the names of a first reading, numbers by their size.
func inOrder[V any](of map[string]V) []string {
	return slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		n, errA := strconv.Atoi(a)
		m, errB := strconv.Atoi(b)
		if errA == nil && errB == nil {
			return cmp.Compare(n, m)
		}
		return cmp.Compare(a, b)
	})
}

// Record reads how much the record of the run takes that ds2 writes into a directory.
func Record(dir string) Source {
	size := func(context.Context) (bytes float64, err error) {
		files, err := os.ReadDir(dir)
		if err != nil {
			return 0, fmt.Errorf("read size of the record: %w", err)
		}
		for _, file := range files {
			if info, err := file.Info(); err == nil { // else it was renamed meanwhile
				bytes += float64(info.Size())
			}
		}
		return bytes, nil
	}
	return GaugeSource("record", "record", size)
}

// Scrub are the counters of scans in the background, all together: their requests, the bytes that
// these read, and the bytes that came from drives and not from the kernel's cache, NaN where that
// is unknown.
func Scrub(read func() (requests, bytes, device float64)) Source {
	take := func(context.Context) ([]float64, error) {
		requests, bytes, device := read()
		return []float64{requests, bytes, device}, nil
	}
	return singleSource("background scan", "", "", "", figureKinds["scrub"], take)
}

// GaugeSource reads the one figure of something that figures.tsv has, a state, which is the value
// of a column as it is.
func GaugeSource(name, of string, read func(context.Context) (float64, error)) Source {
	take := func(ctx context.Context) ([]float64, error) {
		value, err := read(ctx)
		if err != nil {
			return nil, err // so that the figure is unknown, not 0
		}
		return []float64{value}, nil
	}
	return singleSource(name, "", "", "", figureKinds[of], take)
}
