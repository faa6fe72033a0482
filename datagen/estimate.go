package datagen

import "strconv"

// How many bytes of CSV to expect, table by table: what numbers count from is summed up exactly,
// what is drawn goes in with its mean.

// rowBytes is what n rows take whose numbers count from first, each with so many bytes besides.
func (d *Dataset) rowBytes(row float64, first, n int) float64 {
	row++ // LF
	if d.Options.CRLF {
		row++
	}
	return row*float64(n) + countDigits(first, n)
}

// customerBytes are those of a run of CUSTOMERS, of which country, income and the customer's
// number, which stands there twice, vary in width.
func (d *Dataset) customerBytes(c *customers) float64 {
	place := float64(customerUSLen)
	if c.world {
		place = float64(len(",00000,,2,")) + meanLen(Countries[:])
	}
	const income, gender = 5.2, 2 // 20000 to 100000 in steps of 20000; ",M"
	row := customerHeadLen + customerMidLen + customerTailLen + place + income + gender
	// The number stands in the row twice.
	return d.rowBytes(row, c.first, c.rows) + countDigits(c.first, c.rows)
}

// orderBytes are those of a month's ORDERS.
func (d *Dataset) orderBytes(m month) float64 {
	const amounts = 19.17 // ",net,tax,total", over all that an order can have
	row := float64(len(",2009/MM/DD,")) + meanDigits(d.Size.Customers) + amounts
	return d.rowBytes(row, m.firstOrder(), d.Size.OrdersPerMonth)
}

// orderLineBytes are those of a month's ORDERLINES, five lines an order on average.
func (d *Dataset) orderLineBytes(m month) float64 {
	row := float64(len("L,,,Q,2009/MM/DD")) + meanDigits(d.Size.Products)
	return 5 * d.rowBytes(row, m.firstOrder(), d.Size.OrdersPerMonth)
}

// historyBytes are those of a month's CUST_HIST, a row for each line.
func (d *Dataset) historyBytes(m month) float64 {
	row := float64(len(",,")) + meanDigits(d.Size.Customers) + meanDigits(d.Size.Products)
	return 5 * d.rowBytes(row, m.firstOrder(), d.Size.OrdersPerMonth)
}

// productBytes are those of PRODUCTS. The first word of a title counts up with the thousands, so
// that of a small size only the first words of the list occur.
func (d *Dataset) productBytes() float64 {
	n := d.Size.Products
	leading := d.Words.Titles[:min((n+999)/1000, 1000)]
	const category, price = 23.0 / 16, 5
	row := float64(len(", ,")) + meanLen(leading) + meanLen(d.Words.Titles[:]) +
		float64(len(" ,")) + meanLen(d.Words.First[:]) + meanLen(d.Words.Last[:]) +
		category + price + float64(len(",,0,")) + meanDigits(n)
	return d.rowBytes(row, 1, n)
}

// inventoryBytes are those of INVENTORY, with the sales of a product at their mean.
func (d *Dataset) inventoryBytes() float64 {
	n := d.Size.Products
	const stock = (10*1 + 90*2 + 401*3) / 501.0
	sales := 10 * Months * d.Size.OrdersPerMonth / n // its mean
	return d.rowBytes(float64(len(",,"))+stock+float64(len(strconv.Itoa(sales))), 1, n)
}

// countDigits is how many digits the n numbers from first on have together.
func countDigits(first, n int) float64 {
	sum := n // one each; and another for each that reaches the next power of ten
	last := first + n - 1
	for p := 10; p <= last; p *= 10 {
		sum += last - max(first, p) + 1
	}
	return float64(sum)
}

// meanDigits is the mean number of digits of 1 to n.
func meanDigits(n int) float64 { return countDigits(1, n) / float64(n) }

// meanLen is the mean length of words that are drawn with equal chances.
func meanLen(words []string) float64 {
	sum := 0
	for _, w := range words {
		sum += len(w)
	}
	return float64(sum) / float64(len(words))
}
