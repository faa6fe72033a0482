package datagen

import (
	"encoding/binary"
	"strconv"
)

// maxLines is the most lines an order has.
const maxLines = 9

var monthNames = [Months]string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}

var monthDays = [Months]uint64{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// month is the orders of one month.
type month struct {
	index int // 0 for January
	size  Size
}

// order is one order as drawn.
type order struct {
	id       uint64
	day      uint64 // of the month, from 1
	customer uint64
	net      uint64   // cents
	lines    []uint32 // two draws a line: product and quantity; valid until the next order
}

// first is the number of the month's first order, and its seed.
func (m month) first() int { return m.index*m.size.OrdersPerMonth + 1 }

// orders goes through a month's orders, first to last.
func (m month) orders(each func(*order) error) error {
	first := m.first()
	g := newRandom(uint32(first), 0)
	days := monthDays[m.index]
	customers := float64(m.size.Customers)
	var o order
	for id := first; id < first+m.size.OrdersPerMonth; id++ {
		d := g.draws(4 + 2*maxLines)
		o.id = uint64(id)
		o.day = 1 + below(days, d[0])
		o.customer = 1 + belowFloat(customers, d[1])
		o.net = 1 + below(40000, d[2])
		n := 4 + 2*int(1+below(maxLines, d[3]))
		o.lines = d[4:n]
		g.used(n)
		if err := each(&o); err != nil {
			return err
		}
	}
	return nil
}

// writeOrders writes the month's rows of ORDERS.
func (m month) writeOrders(r *rowWriter) error {
	return m.orders(func(o *order) error {
		b, err := r.room()
		if err != nil {
			return err
		}
		n := putUint(b, 0, o.id)
		b[n] = ','
		n = m.putDate(b, n+1, o.day)
		b[n] = ','
		n = putUint(b, n+1, o.customer)
		tax, total := amounts(o.net)
		n = putMoney(b, n, o.net)
		n = putMoney(b, n, tax)
		n = putMoney(b, n, total)
		binary.LittleEndian.PutUint16(b[n:], r.newline)
		r.n += n + r.eol
		return nil
	})
}

// writeOrderLines writes the month's rows of ORDERLINES.
func (m month) writeOrderLines(r *rowWriter) error {
	products := float64(m.size.Products)
	// What an order's lines have in common is put together once, and copied whole: a copy of fixed size is one move.
	var left, right [maxRow]byte // ",ORDERID," and ",Q,2009/MM/DD\n"
	return m.orders(func(o *order) error {
		b, err := r.room()
		if err != nil {
			return err
		}
		left[0] = ','
		leftLen := putUint(&left, 1, o.id)
		left[leftLen] = ','
		leftLen++
		copy(right[:], ",Q,")
		rightLen := m.putDate(&right, 3, o.day)
		binary.LittleEndian.PutUint16(right[rightLen:], r.newline)
		rightLen += r.eol

		n := 0
		for i := 0; i < len(o.lines)-1; i += 2 {
			b[n] = byte('1' + i/2)
			*(*[16]byte)(b[n+1:]) = *(*[16]byte)(left[:])
			n = putUint(b, n+1+leftLen, 1+belowFloat(products, o.lines[i]))
			*(*[16]byte)(b[n:]) = *(*[16]byte)(right[:])
			b[n+1] = byte('1' + below(3, o.lines[i+1]))
			n += rightLen
		}
		r.n += n
		return nil
	})
}

// writeHistory writes the month's rows of CUST_HIST.
func (m month) writeHistory(r *rowWriter) error {
	products := float64(m.size.Products)
	var left [maxRow]byte // "CUSTOMERID,ORDERID,", as in writeOrderLines
	return m.orders(func(o *order) error {
		b, err := r.room()
		if err != nil {
			return err
		}
		leftLen := putUint(&left, 0, o.customer)
		left[leftLen] = ','
		leftLen = putUint(&left, leftLen+1, o.id)
		left[leftLen] = ','
		leftLen++

		n := 0
		for i := 0; i < len(o.lines); i += 2 {
			*(*[24]byte)(b[n:]) = *(*[24]byte)(left[:])
			n = putUint(b, n+leftLen, 1+belowFloat(products, o.lines[i]))
			binary.LittleEndian.PutUint16(b[n:], r.newline)
			n += r.eol
		}
		r.n += n
		return nil
	})
}

// putDate writes 2009/MM/DD at b[n:] and returns the place after.
func (m month) putDate(b *[maxRow]byte, n int, day uint64) int {
	copy(b[n:], "2009/MM/DD")
	put2(b[n+5:], uint64(m.index+1))
	put2(b[n+8:], day)
	return n + 10
}

// amounts gives tax and total of a net amount up to 400.00, in cents, as DS2's doubles come out when they are printed:
// 0.0825 · net, rounded, and the sum. Only where a tax is exactly between two cents does it matter that they are doubles.
func amounts(net uint64) (tax, total uint64) {
	if net%200 == 0 {
		between := &betweenCents[net/200]
		return between.tax, between.total
	}
	tax = (net*825 + 5000) / 10000
	return tax, net + tax
}

// betweenCents holds tax and total of every second unit of money, reckoned and printed as DS2 does. The explicit
// conversion keeps the product from being fused into the sum.
var betweenCents = func() (all [201]struct{ tax, total uint64 }) {
	cents := func(v float64) uint64 {
		text := strconv.FormatFloat(v, 'f', 2, 64)
		n, _ := strconv.ParseUint(text[:len(text)-3]+text[len(text)-2:], 10, 64)
		return n
	}
	for i := range all {
		net := 0.01 * float64(200*i)
		tax := float64(0.0825 * net)
		all[i].tax, all[i].total = cents(tax), cents(net+tax)
	}
	return all
}()

// putMoney writes a comma and an amount at b[n:], and returns the place after.
func putMoney(b *[maxRow]byte, n int, cents uint64) int {
	b[n] = ','
	n = putShort(b, n+1, cents/100)
	b[n] = '.'
	put2(b[n+1:], cents%100)
	return n + 3
}
