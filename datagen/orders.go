package datagen

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The orders of WORKLOAD.md section 3, of three files a month. A month's three files take the same
// draws, so that each can be made without the others.

// maxLines is how many lines an order has at most; on average it has 5.
const maxLines = 9

var monthNames = strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec")

// monthDays are those of 2009.
var monthDays = [Months]uint64{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// month is the orders of one month. It costs nothing until its rows are asked for.
type month struct {
	index int // 0 for January
	size  Size
	seed  uint32 // of its draws: DS2 takes the number of its first order
}

// monthAt is the month of an index; nothing is drawn yet.
func (d *Dataset) monthAt(index int) month {
	m := month{index: index, size: d.Size}
	m.seed = d.fileSeed(m.firstOrder())
	return m
}

// firstOrder is the number of the month's first order, and DS2's seed.
func (m month) firstOrder() int { return m.index*m.size.OrdersPerMonth + 1 }

// orders is a month's orders, one after the other: those that readNext gives, until it is false, or
// their lines, which readLine gives.
type orders struct {
	id       uint64
	day      uint64 // of the month, from 1
	customer uint64
	net      uint64   // cents
	lines    []uint32 // two draws a line: product and quantity; valid until readNext

	line     uint64 // of the order, from 1: the last that readLine has read
	product  uint64
	quantity uint64

	random    *random
	last      uint64
	days      uint64
	before    int64 // the day before the month's first, as days after 1970-01-01
	customers float64
	products  float64
}

// newOrders begins with the month's first order. A second call gives the same orders again, from
// the same draws.
func (m month) newOrders() *orders {
	first := m.firstOrder()
	return &orders{
		id:        uint64(first) - 1,
		last:      uint64(first-1) + uint64(m.size.OrdersPerMonth),
		random:    newRandom(m.seed, 0),
		days:      monthDays[m.index],
		customers: float64(m.size.Customers),
		products:  float64(m.size.Products),
		before:    time.Date(2009, time.Month(m.index+1), 0, 0, 0, 0, 0, time.UTC).Unix() / 86_400,
	}
}

// readNext goes on to the next order, and leaves out what lines of the last were not read.
func (o *orders) readNext() bool {
	if o.id == o.last {
		return false
	}
	// As many as an order can take, though it takes fewer: how many lines it has is one of them.
	d := (*[4 + 2*maxLines]uint32)(o.random.peekDraws(4 + 2*maxLines))
	o.id++
	o.day = 1 + scaleBelow(o.days, d[0])
	o.customer = 1 + belowFloat(o.customers, d[1])
	o.net = 1 + scaleBelow(40000, d[2])
	lines := 2 * int(1+scaleBelow(maxLines, d[3]))
	o.lines = d[4 : 4+lines]
	o.random.skipDraws(4 + lines)
	return true
}

// readLine goes on to the next line, of the next order after the last of one.
func (o *orders) readLine() bool {
	if len(o.lines) == 0 {
		if !o.readNext() {
			return false
		}
		o.line = 0
	}
	o.line++
	o.product = 1 + belowFloat(o.products, o.lines[0])
	o.quantity = 1 + scaleBelow(3, o.lines[1])
	o.lines = o.lines[2:]
	return true
}

// orderRows are the month's rows of ORDERS: number, date, customer, net amount, tax and total.
func (m month) orderRows() Rows {
	o := m.newOrders()
	row := new([6]Value)
	return func() []Value {
		if !o.readNext() {
			return nil
		}
		tax, total := taxAndTotal(o.net)
		row[0].Int = int64(o.id)
		row[1].Int = o.before + int64(o.day)
		row[2].Int = int64(o.customer)
		row[3].Int = int64(o.net)
		row[4].Int = int64(tax)
		row[5].Int = int64(total)
		return row[:]
	}
}

// lineRows are the month's rows of ORDERLINES: number in the order, order, product, quantity and
// the order's date.
func (m month) lineRows() Rows {
	o := m.newOrders()
	row := new([5]Value)
	return func() []Value {
		if !o.readLine() {
			return nil
		}
		row[0].Int = int64(o.line)
		row[1].Int = int64(o.id)
		row[2].Int = int64(o.product)
		row[3].Int = int64(o.quantity)
		row[4].Int = o.before + int64(o.day)
		return row[:]
	}
}

// historyRows are the month's rows of CUST_HIST: customer, order and product, a row for each line.
func (m month) historyRows() Rows {
	o := m.newOrders()
	row := new([3]Value)
	return func() []Value {
		if !o.readLine() {
			return nil
		}
		row[0].Int = int64(o.customer)
		row[1].Int = int64(o.id)
		row[2].Int = int64(o.product)
		return row[:]
	}
}

// writeOrders writes the rows of ORDERS as CSV. It and the two below put fixed parts in place
// first, longer than they are, and what follows over their ends: a copy of known size is two or
// three instructions.
func (m month) writeOrders(r *rowWriter) error {
	dates := m.formatDates()
	for o := m.newOrders(); o.readNext(); {
		b, err := r.rowSpace()
		if err != nil {
			return err
		}
		n := putUint(b, 0, o.id)
		*(*[16]byte)(b[n:]) = dates[o.day]
		n = putUint(b, n+len(",2009/MM/DD,"), o.customer)
		tax, total := taxAndTotal(o.net)
		n = putMoney(b, n, o.net)
		n = putMoney(b, n, tax)
		n = putMoney(b, n, total)
		binary.LittleEndian.PutUint16(b[n:], r.newline)
		r.n += n + r.eol
	}
	return nil
}

// writeOrderLines writes the rows of ORDERLINES as CSV, an order at a time.
func (m month) writeOrderLines(r *rowWriter) error {
	var ends [32][16]byte // ",Q,2009/MM/DD\n" by day
	for day, date := range m.formatDates() {
		copy(ends[day][:], ",Q,")
		copy(ends[day][3:], date[1:11])
		binary.LittleEndian.PutUint16(ends[day][13:], r.newline)
	}
	endLen := len(",Q,2009/MM/DD") + r.eol
	begin := [maxRow]byte{1: ','} // "L,ORDERID,", of each of the order's lines
	for o := m.newOrders(); o.readNext(); {
		b, err := r.rowSpace()
		if err != nil {
			return err
		}
		beginLen := putUint(&begin, 2, o.id) + 1
		begin[beginLen-1] = ','
		end := &ends[o.day]
		n := 0
		for number, lines := byte('1'), o.lines; len(lines) >= 2; lines = lines[2:] {
			line := (*[16]byte)(b[n:])
			*line = *(*[16]byte)(begin[:])
			line[0] = number
			number++
			product := 1 + belowFloat(o.products, lines[0])
			if product < 1e8 { // as putUint, but in line
				n = putShort(b, n+beginLen, product)
			} else {
				n = putUint(b, n+beginLen, product)
			}
			line = (*[16]byte)(b[n:])
			*line = *end
			line[1] = byte('1' + scaleBelow(3, lines[1]))
			n += endLen
		}
		r.n += n
	}
	return nil
}

// writeHistory writes the rows of CUST_HIST as CSV, an order at a time.
func (m month) writeHistory(r *rowWriter) error {
	var begin [maxRow]byte // "CUSTOMERID,ORDERID,", of each of the order's rows
	for o := m.newOrders(); o.readNext(); {
		b, err := r.rowSpace()
		if err != nil {
			return err
		}
		beginLen := putUint(&begin, 0, o.customer) + 1
		begin[beginLen-1] = ','
		beginLen = putUint(&begin, beginLen, o.id) + 1
		begin[beginLen-1] = ','
		// In registers, as memory that was just written byte by byte is slow to read.
		begin0 := binary.LittleEndian.Uint64(begin[0:])
		begin1 := binary.LittleEndian.Uint64(begin[8:])
		begin2 := binary.LittleEndian.Uint64(begin[16:])

		n := 0
		for lines := o.lines; len(lines) >= 2; lines = lines[2:] {
			row := (*[24]byte)(b[n:])
			binary.LittleEndian.PutUint64(row[0:], begin0)
			binary.LittleEndian.PutUint64(row[8:], begin1)
			binary.LittleEndian.PutUint64(row[16:], begin2)
			product := 1 + belowFloat(o.products, lines[0])
			if product < 1e8 { // as putUint, but in line
				n = putShort(b, n+beginLen, product)
			} else {
				n = putUint(b, n+beginLen, product)
			}
			binary.LittleEndian.PutUint16(b[n:], r.newline)
			n += r.eol
		}
		r.n += n
	}
	return nil
}

// formatDates are ",2009/MM/DD," for the days of the month, from 1 on.
func (m month) formatDates() (dates [32][16]byte) {
	for day := range dates {
		copy(dates[day][:], ",2009/MM/DD,")
		putTwoDigits(dates[day][6:], uint64(m.index+1))
		putTwoDigits(dates[day][9:], uint64(day))
	}
	return dates
}

// taxAndTotal gives tax and total of a net amount up to 400.00, in cents, as DS2's doubles come out
// when they are printed: 0.0825 · net, rounded, and the sum. Only where a tax is exactly between
// two cents does it matter that they are doubles.
func taxAndTotal(net uint64) (tax, total uint64) {
	if net%200 == 0 {
		between := &betweenCents[net/200]
		return between.tax, between.total
	}
	tax = (net*825 + 5000) / 10000
	return tax, net + tax
}

// betweenCents holds tax and total of every second unit of money, computed and printed as DS2 does.
// The explicit conversions keep either product from being fused into the sum, which ARM does and
// which gives other cents.
var betweenCents = func() (all [201]struct{ tax, total uint64 }) {
	cents := func(v float64) uint64 {
		text := strconv.FormatFloat(v, 'f', 2, 64)
		n, _ := strconv.ParseUint(strings.Replace(text, ".", "", 1), 10, 64)
		return n
	}
	for i := range all {
		net := float64(0.01 * float64(200*i))
		tax := float64(0.0825 * net)
		all[i].tax, all[i].total = cents(tax), cents(net+tax)
	}
	return all
}()

// moneyUnits holds whole units of money, up to the largest total, as ",123." with the text's length
// in the highest byte.
var moneyUnits = func() (units [434]uint64) {
	for i := range units {
		var b [8]byte
		b[7] = byte(copy(b[:], fmt.Sprintf(",%d.", i)))
		units[i] = binary.LittleEndian.Uint64(b[:])
	}
	return units
}()

// putMoney writes a comma and an amount at b[n:], and returns the place after.
func putMoney(b *[maxRow]byte, n int, cents uint64) int {
	units := cents / 100
	text := moneyUnits[units]
	binary.LittleEndian.PutUint64(b[n:], text)
	n += int(text >> 56)
	putTwoDigits(b[n:], cents-100*units)
	return n + 2
}
