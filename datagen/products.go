package datagen

type productRows struct {
	*Dataset
	random *random
	odds   uint64 // one of how many is special
	n      int    // rows so far
	texts  [maxRow]byte
	row    [7]Value
}

const productPrice = 4 // the column

func (d *Dataset) productRows() Rows {
	r := &productRows{Dataset: d, random: newRandom(d.fileSeed(1), 0), odds: 100} // DS2 never seeds it: a seed of 1
	if d.Size.Products > 100_000 {
		r.odds = 10_000
	}
	return r
}

func (r *productRows) Next() []Value {
	if r.n == r.Size.Products {
		return nil
	}
	x := r.random.draws(6)
	title := putWords(&r.texts, 0, r.Words.Titles[r.n/1000%1000], r.Words.Titles[r.n%1000])
	// The last name is drawn before the first, as gcc orders DS2's two calls.
	actor := putWords(&r.texts, title, r.Words.First[below(200, x[2])], r.Words.Last[below(200, x[1])])
	r.n++
	r.row[0].Int = int64(r.n)
	r.row[1].Int = int64(1 + below(16, x[0])) // category
	r.row[2].Text = r.texts[:title]
	r.row[3].Text = r.texts[title:actor]
	r.row[productPrice].Int = int64(100*(9+below(21, x[3])) + 99)
	r.row[5].Int = int64((below(r.odds, x[4]) + 1) / r.odds) // special
	r.row[6].Int = int64(1 + belowFloat(float64(r.Size.Products), x[5]))
	r.random.used(6)
	return r.row[:]
}

// putWords writes two words with a blank between, and returns the place after.
func putWords(b *[maxRow]byte, n int, first, second string) int {
	n += copy(b[n:], first)
	b[n] = ' '
	return n + 1 + copy(b[n+1:], second)
}

// inventoryRows are the rows of INVENTORY. For the sales they replay the draws of all months first, with a counter of
// four bytes a product: less than a second for size W, which is too little to share out.
type inventoryRows struct {
	random *random
	sales  []uint32
	n      int // rows so far
	row    [3]Value
}

func (d *Dataset) inventoryRows() Rows {
	sales := make([]uint32, d.Size.Products)
	for i := range Months {
		for o := d.month(i).orders(); o.next(); {
			for lines := o.lines; len(lines) >= 2; lines = lines[2:] {
				sales[belowFloat(o.products, lines[0])] += uint32(1 + below(3, lines[1]))
			}
		}
	}
	return &inventoryRows{random: newRandom(d.fileSeed(d.Size.Products), 0), sales: sales}
}

func (r *inventoryRows) Next() []Value {
	if r.n == len(r.sales) {
		return nil
	}
	stock := below(501, r.random.draws(1)[0])
	r.random.used(1)
	if (r.n+1)%10_000 == 0 {
		stock *= 10
	}
	r.row[0].Int = int64(r.n + 1)
	r.row[1].Int = int64(stock)
	r.row[2].Int = int64(r.sales[r.n])
	r.n++
	return r.row[:]
}
