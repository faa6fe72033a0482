package datagen

// productPrice is the column that DS2 prints five characters wide (WORKLOAD.md section 3).
const productPrice = 4

// productRows are the rows of PRODUCTS: number, category, title, actor, price, whether it is a
// special, and the product that is commonly bought with it.
func (d *Dataset) productRows() Rows {
	random := newRandom(d.fileSeed(1), 0) // DS2 never seeds it: a seed of 1
	odds := uint64(100)                   // one of how many is special
	if d.Size.Products > 100_000 {
		odds = 10_000
	}
	n := 0
	texts := new([maxRow]byte)
	row := new([7]Value)
	return func() []Value {
		if n == d.Size.Products {
			return nil
		}
		x := random.peekDraws(6)
		title := putWords(texts, 0, d.Words.Titles[n/1000%1000], d.Words.Titles[n%1000])
		// The last name is drawn before the first, as gcc orders DS2's two calls.
		last := d.Words.Last[scaleBelow(200, x[1])]
		actor := putWords(texts, title, d.Words.First[scaleBelow(200, x[2])], last)
		n++
		row[0].Int = int64(n)
		row[1].Int = int64(1 + scaleBelow(16, x[0])) // category
		row[2].Text = texts[:title]
		row[3].Text = texts[title:actor]
		row[productPrice].Int = int64(100*(9+scaleBelow(21, x[3])) + 99)
		row[5].Int = int64((scaleBelow(odds, x[4]) + 1) / odds) // special
		row[6].Int = int64(1 + belowFloat(float64(d.Size.Products), x[5]))
		random.skipDraws(6)
		return row[:]
	}
}

// putWords writes two words with a blank between, and returns the place after.
func putWords(b *[maxRow]byte, n int, first, second string) int {
	n += copy(b[n:], first)
	b[n] = ' '
	return n + 1 + copy(b[n+1:], second)
}

// inventoryRows are the rows of INVENTORY: product, stock and sales. For the sales they replay the
// draws of all months first, with a counter of four bytes a product: less than a second for size W,
// which is too little to share out.
func (d *Dataset) inventoryRows() Rows {
	sales := make([]uint32, d.Size.Products)
	for i := range Months {
		for o := d.monthAt(i).newOrders(); o.readLine(); {
			sales[o.product-1] += uint32(o.quantity)
		}
	}
	random := newRandom(d.fileSeed(d.Size.Products), 0)
	n := 0
	row := new([3]Value)
	return func() []Value {
		if n == len(sales) {
			return nil
		}
		stock := scaleBelow(501, random.peekDraws(1)[0])
		random.skipDraws(1)
		if (n+1)%10_000 == 0 {
			stock *= 10
		}
		row[0].Int = int64(n + 1)
		row[1].Int = int64(stock)
		row[2].Int = int64(sales[n])
		n++
		return row[:]
	}
}
