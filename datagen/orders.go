package datagen

import (
	"encoding/binary"
	"strconv"
	"sync"
)

// Year is the year of all orders that are generated.
const Year = 2009

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
	amounts := amounts()
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
		a := &amounts[o.net]
		*(*[len(a.text)]byte)(b[n:]) = a.text
		n += int(a.len)
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

// amount is ",net,tax,total" of an order.
type amount struct {
	text [23]byte
	len  uint8
}

// amounts gives the amounts of every net that an order can have, by its cents. They are reckoned in doubles and printed
// from them, as DS2 does; the explicit conversion keeps the product from being fused into the sum.
var amounts = sync.OnceValue(func() []amount {
	all := make([]amount, 40001)
	for cents := range all {
		net := 0.01 * float64(cents)
		tax := float64(0.0825 * net)
		text := all[cents].text[:0]
		for _, v := range []float64{net, tax, net + tax} {
			text = append(text, ',')
			text = strconv.AppendFloat(text, v, 'f', 2, 64)
		}
		all[cents].len = uint8(len(text))
	}
	return all
})
