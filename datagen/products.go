package datagen

import "encoding/binary"

func (d *Dataset) writeProducts(r *rowWriter) error {
	g := newRandom(d.fileSeed(1), 0) // DS2 never seeds it, which is a seed of 1
	products := d.size.Products
	odds := uint64(100)
	if products > 100_000 {
		odds = 10_000
	}
	w := d.words
	for i := range products {
		b, err := r.room()
		if err != nil {
			return err
		}
		x := g.draws(6)
		n := putUint(b, 0, uint64(i+1))
		b[n] = ','
		n = putUint(b, n+1, 1+below(16, x[0]))
		b[n] = ','
		n++
		n += copy(b[n:], w.Titles[i/1000%1000])
		b[n] = ' '
		n++
		n += copy(b[n:], w.Titles[i%1000])
		b[n] = ','
		n++
		// The last name is drawn before the first, as gcc orders DS2's two calls.
		n += copy(b[n:], w.First[below(200, x[2])])
		b[n] = ' '
		n++
		n += copy(b[n:], w.Last[below(200, x[1])])
		b[n] = ','
		n++
		price := 9 + below(21, x[3])
		if price < 10 { // DS2 prints prices five characters wide
			b[n] = ' '
			n++
		}
		n = putUint(b, n, price)
		n += copy(b[n:], ".99,")
		b[n] = '0'
		if below(odds, x[4]) == odds-1 {
			b[n] = '1'
		}
		b[n+1] = ','
		n = putUint(b, n+2, 1+belowFloat(float64(products), x[5]))
		binary.LittleEndian.PutUint16(b[n:], r.newline)
		r.n += n + r.eol
		g.used(6)
	}
	return nil
}

// writeInventory writes all rows of INVENTORY. For the sales it replays the draws of all months first, with a counter
// of four bytes a product: less than a second for size W, which is too little to share out.
func (d *Dataset) writeInventory(r *rowWriter) error {
	sales := make([]uint32, d.size.Products)
	products := float64(d.size.Products)
	for i := range Months {
		for o := d.month(i).orders(); o.next(); {
			for lines := o.lines; len(lines) >= 2; lines = lines[2:] {
				sales[belowFloat(products, lines[0])] += uint32(1 + below(3, lines[1]))
			}
		}
	}
	g := newRandom(d.fileSeed(d.size.Products), 0)
	for i, sold := range sales {
		b, err := r.room()
		if err != nil {
			return err
		}
		stock := below(501, g.draws(1)[0])
		g.used(1)
		if (i+1)%10_000 == 0 {
			stock *= 10
		}
		n := putUint(b, 0, uint64(i+1))
		b[n] = ','
		n = putUint(b, n+1, stock)
		b[n] = ','
		n = putUint(b, n+1, uint64(sold))
		binary.LittleEndian.PutUint16(b[n:], r.newline)
		r.n += n + r.eol
	}
	return nil
}
