package datagen_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ds2/datagen"
)

// The sums of the files that DS2.1's own programs write, but for prod.csv, whose titles and actors
// are of DS2's words.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		size     datagen.Size
		parallel int
		partRows int
	}{
		{datagen.S, 1, 0},
		{datagen.S, 3, 777}, // parts that end nowhere in particular
		{datagen.S, 8, 10},  // more parts than any user would ask for
		{datagen.M, 2, 100_000},
	} {
		t.Run(
			fmt.Sprintf("%s/parallel=%d/rows=%d", c.size, c.parallel, c.partRows),
			func(t *testing.T) {
				if testing.Short() && c.size == datagen.M {
					t.Skip("size M is for the full test")
				}
				data, err := datagen.New(
					c.size,
					datagen.DefaultWords(),
					datagen.Options{PartRows: c.partRows},
				)
				require.NoError(t, err)
				golden, err := os.ReadFile("../testdata/golden/" + c.size.String() + ".sha256")
				require.NoError(t, err)
				require.Len(t, data.Files(), 40)
				var work errgroup.Group
				work.SetLimit(c.parallel)
				for _, f := range data.Files() {
					work.Go(func() error {
						h := sha256.New()
						for _, p := range f.Parts {
							if _, err := p.WriteTo(h); err != nil {
								return err
							}
						}
						if f.Name != "prod.csv" {
							assert.Contains(
								t,
								string(golden),
								fmt.Sprintf("%x  %s\n", h.Sum(nil), f.Name),
							)
						}
						return nil
					})
				}
				require.NoError(t, work.Wait())
			},
		)
	}
}

// A dataset's expected bytes steer the progress, the look for space and the shards, and ds2 sizes
// prints them.
func TestExpectedBytes(t *testing.T) {
	odd := datagen.Size{Customers: 7, OrdersPerMonth: 5_000, Products: 123_456}
	for _, size := range []datagen.Size{datagen.S, datagen.M, odd} {
		if testing.Short() && size == datagen.M {
			continue
		}
		for _, crlf := range []bool{false, true} {
			data, err := datagen.New(size, datagen.DefaultWords(), datagen.Options{CRLF: crlf})
			require.NoError(t, err)
			var expected, got int64
			for _, p := range data.Parts() {
				n, err := p.WriteTo(io.Discard)
				require.NoError(t, err)
				expected = expected + p.Bytes
				got = got + n
			}
			assert.InEpsilon(t, got, expected, 0.01, "size %v, CR LF %v", size, crlf)
		}
	}
}

// Another seed gives other rows in every file, of the same keys and the same shape, that fit
// together as DS2's do.
func TestSeed(t *testing.T) {
	size := datagen.Size{Customers: 2_000, OrdersPerMonth: 200, Products: 500}
	read := func(seed uint64) map[string][][]string {
		t.Helper()
		data, err := datagen.New(
			size,
			datagen.DefaultWords(),
			datagen.Options{Seed: seed, PartRows: 300},
		)
		require.NoError(t, err)
		files := map[string][][]string{}
		for _, p := range data.Parts() {
			var text strings.Builder
			_, err := p.WriteTo(&text)
			require.NoError(t, err)
			for line := range strings.Lines(text.String()) {
				files[p.File] = append(files[p.File], strings.Split(strings.TrimSpace(line), ","))
			}
		}
		return files
	}
	ds2 := read(0)
	again := read(7)
	other := read(8)
	seeded := read(7)
	assert.Equal(t, again, seeded, "one seed gives different rows")
	for name := range ds2 {
		assert.True(
			t,
			!reflect.DeepEqual(seeded[name], ds2[name]) &&
				!reflect.DeepEqual(seeded[name], other[name]),
			"%s has the same rows with different seeds",
			name,
		)
		if !strings.Contains(name, "order") && !strings.Contains(name, "hist") {
			assert.Equal(t, len(ds2[name]), len(seeded[name]), name)
		}
	}
	for i, row := range seeded["us_cust.csv"] {
		was := ds2["us_cust.csv"][i]
		require.True(t, row[0] == was[0] && len(row) == len(was), "row %d is %q", i, row)
		require.NotEqual(
			t,
			was[1],
			row[1],
			"the name with another seed, which storage could deduplicate",
		)
	}
	sold := map[string]int{}
	for _, line := range seeded["mar_orderlines.csv"] {
		assert.Equal(t, "2009/03/", line[4][:8], "a line of March")
	}
	for name, lines := range seeded {
		if strings.HasSuffix(name, "_orderlines.csv") {
			for _, line := range lines {
				quantity, _ := strconv.Atoi(line[3])
				sold[line[2]] += quantity
			}
		}
	}
	for _, product := range seeded["inv.csv"] {
		assert.Equal(
			t,
			fmt.Sprint(sold[product[0]]),
			product[2],
			"sold of product %s, as its lines say",
			product[0],
		)
	}
	for _, month := range []string{"jan", "dec"} {
		history := seeded[month+"_cust_hist.csv"]
		lines := seeded[month+"_orderlines.csv"]
		require.Equal(t, len(lines), len(history), month)
		for i, line := range lines {
			assert.Equal(t, line[1:3], history[i][1:3], "%s, line %d", month, i)
		}
	}
}
