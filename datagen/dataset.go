// Package datagen makes the DVD Store 2 dataset (WORKLOAD.md sections 2 and 3): sizes, and every table as parts that
// write CSV, byte for byte as DS2.1's own programs do. It knows no database, and where the parts go is the business of
// those who ask for them.
package datagen

import "io"

// Table is the name of a table in the database, in lower case.
type Table string

// The tables that are generated. CATEGORIES and REORDER are not: the schema fills the one and leaves the other empty.
const (
	Customers  Table = "customers"
	Orders     Table = "orders"
	OrderLines Table = "orderlines"
	CustHist   Table = "cust_hist"
	Products   Table = "products"
	Inventory  Table = "inventory"
)

// Part is a run of rows of one table. Its WriteTo writes them as CSV: the columns in the order of WORKLOAD.md section 3,
// no header, no quotes. Parts are independent: they may be written in any order, several at once, and each again and
// again with the same bytes.
type Part struct {
	Table Table
	File  string // DS2's name of the file that the rows belong to; its parts in order make it up
	Rows  int64  // how many; of orderlines and cust_hist the expected number, 5 an order, which chance misses by little
	io.WriterTo
}

// File is one of DS2's files.
type File struct {
	Name  string
	Table Table
	Parts []Part // in order; all files but the customers' two are one part
}

// Options are what may differ between two datasets of one size and one list of words.
type Options struct {
	CRLF     bool // lines end in CR LF, not LF
	PartRows int  // customers in a part, at most; 0 means 500,000
}

// Dataset is the dataset of a size.
type Dataset struct {
	size    Size
	words   *Words
	options Options
}

// New is the dataset of a size, with titles and actors made of words. It costs nothing: rows come to be when a part is written.
func New(size Size, words *Words, options Options) (*Dataset, error) {
	if err := size.Check(); err != nil {
		return nil, err
	}
	if options.PartRows == 0 {
		options.PartRows = 500_000
	}
	return &Dataset{size, words, options}, nil
}

// Files lists the 41 files, under DS2's names.
func (d *Dataset) Files() []File {
	files := append(customersFiles(d), monthFiles(d)...)
	for _, part := range []Part{
		{Table: Products, File: "prod.csv", Rows: int64(d.size.Products), WriterTo: d.rows(d.writeProducts)},
		{Table: Inventory, File: "inv.csv", Rows: int64(d.size.Products), WriterTo: d.rows(d.writeInventory)},
	} {
		files = append(files, File{Name: part.File, Table: part.Table, Parts: []Part{part}})
	}
	return files
}

// Parts lists the parts of all files, in the order of Files.
func (d *Dataset) Parts() []Part {
	var parts []Part
	for _, f := range d.Files() {
		parts = append(parts, f.Parts...)
	}
	return parts
}

// rows makes an io.WriterTo of a function that writes rows.
func (d *Dataset) rows(write func(*rowWriter) error) io.WriterTo { return rows{write, d.options.CRLF} }

type rows struct {
	write func(*rowWriter) error
	crlf  bool
}

func (r rows) WriteTo(w io.Writer) (int64, error) {
	rw := newRowWriter(w, r.crlf)
	err := r.write(rw)
	if err == nil {
		err = rw.flush()
	}
	return rw.written, err
}
