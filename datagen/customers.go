package datagen

import "encoding/binary"

// States are the codes that a customer in the US has one of.
var States = [51]string{
	"AK", "AL", "AR", "AZ", "CA", "CO", "CT", "DC", "DE", "FL", "GA", "HI", "IA", "ID", "IL", "IN", "KS",
	"KY", "LA", "MA", "MD", "ME", "MI", "MN", "MO", "MS", "MT", "NC", "ND", "NE", "NH", "NJ", "NM", "NV",
	"NY", "OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VA", "VT", "WA", "WI", "WV", "WY",
}

// Countries are the names that a customer of the rest of the world has one of.
var Countries = [10]string{
	"Australia", "Canada", "Chile", "China", "France", "Germany", "Japan", "Russia", "South Africa", "UK",
}

// customers is a run of rows of one of the two customers' files.
type customers struct {
	world       bool // the rest of the world, not the US
	seed        uint32
	first, rows int // of this run
	skip        int // rows of the file before it
}

// Every row takes the same number of draws, so a run can begin anywhere.
const (
	drawsUS    = 33
	drawsWorld = 32
)

// A row is put together from three templates with the customer's number, state or country between them. What is in
// capitals is overwritten in place: the offsets in write are those of the templates.
const (
	customerHead = ",FIRST-,LAST------,PHONE----- Dell Way,,CITY---,"
	customerMid  = "LAST------@dell.com,PHONE-----,C,CARD------------,20YY/MM,user"
	customerTail = ",password,AG,"
)

func (c *customers) write(r *rowWriter) error {
	draws := drawsUS
	if c.world {
		draws = drawsWorld
	}
	g := newRandom(c.seed, uint64(c.skip)*uint64(draws))
	for id := c.first; id < c.first+c.rows; id++ {
		b, err := r.room()
		if err != nil {
			return err
		}
		d := (*[drawsUS]uint32)(g.draws(drawsUS))
		g.used(draws)

		start := putUint(b, 0, uint64(id))
		copy(b[start:], customerHead)
		head := (*[len(customerHead)]byte)(b[start:])
		putLetters(head[1:7], d[0:6])
		putLetters(head[8:18], d[6:16])
		putLetters(head[40:47], d[16:23])
		n := start + len(customerHead)

		var rest *[8]uint32
		if c.world {
			rest = (*[8]uint32)(d[24:])
			n += copy(b[n:], ",00000,")
			n += copy(b[n:], Countries[below(10, d[23])])
			n += copy(b[n:], ",2,")
		} else {
			rest = (*[8]uint32)(d[25:])
			n += copy(b[n:], States[below(51, d[23])])
			b[n] = ','
			n = putUint(b, n+1, 10000+below(90000, d[24]))
			n += copy(b[n:], ",US,1,")
		}

		phone := 1e9 + belowFloat(9e9, rest[0])
		putUint(b, start+19, phone)
		copy(b[n:], customerMid)
		mid := (*[len(customerMid)]byte)(b[n:])
		copy(mid[:10], head[8:18])
		copy(mid[20:30], head[19:29])
		mid[31] = byte('1' + below(5, rest[1]))
		// The sum is a double too: above 2^53 only even numbers come out.
		card := uint64(1e15 + float64(belowFloat(9e15, rest[2])))
		putFixed8(mid[33:], card/1e8)
		putFixed8(mid[41:], card%1e8)
		put2(mid[52:], 8+below(5, rest[3]))
		put2(mid[55:], 1+below(12, rest[4]))
		n += len(customerMid)
		n += copy(b[n:], b[:start])

		copy(b[n:], customerTail)
		put2(b[n+10:], 18+below(73, rest[5]))
		n += len(customerTail)
		n = putUint(b, n, 20000*(1+below(5, rest[6])))
		b[n] = ','
		b[n+1] = "FM"[below(2, rest[7])]
		n += 2
		binary.LittleEndian.PutUint16(b[n:], r.newline)
		r.n += n + r.eol
	}
	return nil
}

// putLetters writes a letter for each draw.
func putLetters(b []byte, draws []uint32) {
	_ = b[len(draws)-1]
	for i, x := range draws {
		b[i] = byte('A' + below(26, x))
	}
}

// customersFiles lists the two files, cut into parts.
func (d *Dataset) customersFiles() []File {
	us := d.size.Customers / 2
	return []File{
		d.customersFile("us_cust.csv", false, 1, us),
		d.customersFile("row_cust.csv", true, us+1, d.size.Customers-us),
	}
}

func (d *Dataset) customersFile(name string, world bool, first, rows int) File {
	f := File{Name: name, Table: Customers, Seed: uint32(first)}
	for skip := 0; skip == 0 || skip < rows; skip += d.options.PartRows { // a part even where there is no row: the file exists
		c := &customers{world, f.Seed, first + skip, min(d.options.PartRows, rows-skip), skip}
		f.Parts = append(f.Parts, Part{Customers, name, int64(c.rows), int64(d.customerBytes(c)), rowFunc{c.write, d.options.CRLF}})
	}
	return f
}
