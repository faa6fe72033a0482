// Package datagen makes the DVD Store 2 dataset (WORKLOAD.md sections 2 and 3): sizes, and every
// table as parts that write CSV, byte for byte as DS2.1's own programs do. It knows no database,
// and where the parts go is the business of those who ask for them.
package datagen

import "io"

// Table is the name of a table in the database, in lower case.
type Table string

// The tables that are generated. CATEGORIES and REORDER are not: the schema fills the one and
// leaves the other empty.
const (
	Customers  Table = "customers"
	Orders     Table = "orders"
	OrderLines Table = "orderlines"
	CustHist   Table = "cust_hist"
	Products   Table = "products"
	Inventory  Table = "inventory"
)

// Tables lists the tables that are generated.
var Tables = []Table{Customers, Orders, OrderLines, CustHist, Products, Inventory}

// Part is a run of rows of one table, with the columns in the order of WORKLOAD.md section 3. Parts
// are independent: they may be read in any order, several at once, and each again and again with
// the same rows.
type Part struct {
	Table Table
	File  string // DS2's name of the file that the rows belong to; its parts in order make it up
	Rows  int64  // how many; of orderlines and cust_hist about, 5 an order
	Bytes int64  // of CSV, expected: within 1 % for a whole dataset

	Open func() Rows // begins with the first row; nil: the rows are in a file of CSV
	// writes the rows as CSV, without header and quotes; nil where nothing asks for that
	io.WriterTo
}

// Rows gives the next row at each call, valid until the next one, and nil after the last.
type Rows func() []Value

// Value is one column of a row. The table says what a column holds; one that engines declare
// differently has both.
type Value struct {
	Int  int64  // a whole number, an amount in cents, or a day: how many after 1970-01-01
	Text []byte // a text; nil: NULL
}

// File is one of DS2's files.
type File struct {
	Name  string
	Table Table
	Seed  uint32 // of the random numbers in it
	Parts []Part // in order; all files but the customers' two are one part
}

// Bytes is the expected size of the file.
func (f File) Bytes() (n int64) {
	for _, p := range f.Parts {
		n += p.Bytes
	}
	return n
}

// Options are what may differ between two datasets of one size and one list of words.
type Options struct {
	CRLF     bool // lines end in CR LF, not LF
	PartRows int  // customers in a part, at most; 0 means 500,000
	// 0: DS2's own rows; any other makes other rows of the same shape, of other random numbers
	Seed uint64
}

// Dataset is the dataset of a size, with the words and options that it was made with.
type Dataset struct {
	Size    Size
	Words   *Words
	Options Options
}

// New is the dataset of a size, with titles and actors made of words. It refuses what Size.Check
// refuses. It costs nothing: rows come to be when a part is written.
func New(size Size, words *Words, options Options) (*Dataset, error) {
	if err := size.Check(); err != nil {
		return nil, err
	}
	if options.PartRows == 0 {
		options.PartRows = 500_000
	}
	return &Dataset{size, words, options}, nil
}

// fileSeed is the seed of a file's random numbers, of which DS2's is given.
func (d *Dataset) fileSeed(ds2 int) uint32 {
	if d.Options.Seed == 0 {
		return uint32(ds2)
	}
	// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): seeds that are close together give
	// streams that are not.
	z := d.Options.Seed*0x9e3779b97f4a7c15 + uint64(ds2)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return uint32((z ^ z>>31) >> 32)
}

// Files lists the 40 files, under DS2's names.
func (d *Dataset) Files() []File {
	us := d.Size.Customers / 2
	files := []File{
		d.customersFile("us_cust.csv", false, 1, us),
		d.customersFile("row_cust.csv", true, us+1, d.Size.Customers-us),
	}
	add := func(
		name string, table Table, seed uint32, rows int, bytes float64,
		write func(*rowWriter) error, open func() Rows,
	) {
		part := d.newPart(name, table, rows, bytes, write, open)
		files = append(files, File{name, table, seed, []Part{part}})
	}
	orders := d.Size.OrdersPerMonth
	for i, name := range monthNames {
		m := d.monthAt(i)
		add(name+"_orders.csv", Orders, m.seed, orders, d.orderBytes(m),
			m.writeOrders, m.orderRows)
		add(name+"_orderlines.csv", OrderLines, m.seed, 5*orders, d.orderLineBytes(m),
			m.writeOrderLines, m.lineRows)
		add(name+"_cust_hist.csv", CustHist, m.seed, 5*orders, d.historyBytes(m),
			m.writeHistory, m.historyRows)
	}
	products := d.Size.Products
	add("prod.csv", Products, d.fileSeed(1), products, d.productBytes(),
		func(w *rowWriter) error { return w.writeRows(d.productRows(), productPrice) },
		d.productRows)
	add("inv.csv", Inventory, d.fileSeed(products), products, d.inventoryBytes(),
		func(w *rowWriter) error { return w.writeRows(d.inventoryRows(), -1) },
		d.inventoryRows)
	return files
}

// newPart is a part of so many rows and bytes, about: of lines nobody knows before they are drawn.
func (d *Dataset) newPart(
	file string, table Table, rows int, bytes float64,
	write func(*rowWriter) error, open func() Rows,
) Part {
	return Part{table, file, int64(rows), int64(bytes), open, rowFunc{write, d.Options.CRLF}}
}

// Parts lists the parts of all files, in the order of Files.
func (d *Dataset) Parts() []Part {
	var parts []Part
	for _, f := range d.Files() {
		parts = append(parts, f.Parts...)
	}
	return parts
}
