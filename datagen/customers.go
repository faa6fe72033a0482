package datagen

import (
	"encoding/binary"
	"strings"
)

// States are the codes that a customer in the US has one of.
var States = strings.Fields("AK AL AR AZ CA CO CT DC DE FL GA HI IA ID IL IN KS KY LA MA MD ME " +
	"MI MN MO MS MT NC ND NE NH NJ NM NV NY OH OK OR PA RI SC SD TN TX UT VA VT WA WI WV WY")

// Countries are the names that a customer of the rest of the world has one of.
var Countries = strings.Split(
	"Australia,Canada,Chile,China,France,Germany,Japan,Russia,South Africa,UK", ",")

// customers is a run of rows of one of the two customers' files.
type customers struct {
	world       bool // the rest of the world, not the US
	seed        uint32
	first, rows int // of this run
	skip        int // rows of the file before it
}

// Every row takes the same number of draws, so a run can begin anywhere. One of the US takes one
// more, for the ZIP code.
const (
	drawsUS    = 33
	drawsWorld = 32
)

// A row is put together from templates with the customer's number or country between them. What is
// in capitals, but for US, is overwritten in place: the offsets in put are those of the templates.
// They are arrays, and so are the texts below: copying one of a known size is a few moves, copying
// a string is a call.
var (
	customerHead = [52]byte([]byte(",FIRST-,LAST------,PHONE----- Dell Way,,CITY---,    "))
	customerUS   = [16]byte([]byte("ST,ZZZZZ,US,1,  "))
	customerMid  = [64]byte([]byte("LAST------@dell.com,PHONE-----,C,CARD------------,20YY/MM,user  "))
	customerTail = [16]byte([]byte(",password,AG,   "))
)

// What of the templates counts; the rest is overwritten.
const (
	customerHeadLen = 48
	customerUSLen   = 14
	customerMidLen  = 62
	customerTailLen = 13
)

// text is a short text, copied with what is behind it.
type text struct {
	bytes [24]byte
	len   int
}

// newText is a text that fits into its array; what is behind it is zeros, over which the next
// column is written.
func newText(s string) (t text) {
	t.len = copy(t.bytes[:], s)
	return t
}

// worldPlaces are what stands between city and e-mail of a customer of the rest of the world: by
// country.
var worldPlaces = func() (places [10]text) {
	for i, country := range Countries {
		places[i] = newText(",00000," + country + ",2,")
	}
	return places
}()

var incomes = [5]text{
	newText("20000,"),
	newText("40000,"),
	newText("60000,"),
	newText("80000,"),
	newText("100000,"),
}

// drawsPerRow is how many numbers a row takes.
func (c *customers) drawsPerRow() int {
	if c.world {
		return drawsWorld
	}
	return drawsUS
}

// randomAtStart gives the file's random numbers from the first that this run takes.
func (c *customers) randomAtStart() *random {
	return newRandom(c.seed, uint64(c.skip)*uint64(c.drawsPerRow()))
}

// writeRows writes the rows as CSV.
func (c *customers) writeRows(r *rowWriter) error {
	draws := c.drawsPerRow()
	g := c.randomAtStart()
	for id := c.first; id < c.first+c.rows; id++ {
		b, err := r.rowSpace()
		if err != nil {
			return err
		}
		_, _, n := c.putRow(b, id, (*[drawsUS]uint32)(g.peekDraws(drawsUS)))
		g.skipDraws(draws)
		binary.LittleEndian.PutUint16(b[n:], r.newline)
		r.n += n + r.eol
	}
	return nil
}

// putRow writes a row without its end. It returns where the head, the middle and the end are.
func (c *customers) putRow(b *[maxRow]byte, id int, d *[drawsUS]uint32) (start, middle, n int) {
	start = putUint(b, 0, uint64(id))
	head := (*[len(customerHead)]byte)(b[start:])
	*head = customerHead
	putLetters(head[1:7], d[0:6])
	putLetters(head[8:18], d[6:16])
	putLetters(head[40:47], d[16:23])
	n = start + customerHeadLen

	rest := c.drawsAfterPlace(d)
	if c.world {
		place := &worldPlaces[scaleBelow(10, d[23])]
		*(*[24]byte)(b[n:]) = place.bytes
		n += place.len
	} else {
		us := (*[len(customerUS)]byte)(b[n:])
		*us = customerUS
		state := States[scaleBelow(51, d[23])]
		us[0] = state[0]
		us[1] = state[1]
		zip := 10000 + scaleBelow(90000, d[24])
		us[3] = byte('0' + zip/10_000)
		binary.LittleEndian.PutUint32(us[4:], fourDigits[zip%10_000])
		n += customerUSLen
	}
	middle = n

	// The last name stands in the e-mail address again, and the phone number in the street.
	phone := 1e9 + belowFloat(9e9, rest[0]) // always of ten digits
	putTwoDigits(head[19:], phone/1e8)
	putFixed8(head[21:], phone%1e8)
	mid := (*[len(customerMid)]byte)(b[n:])
	*mid = customerMid
	copyTen(mid[0:], head[8:])
	copyTen(mid[20:], head[19:])
	mid[31] = byte('1' + scaleBelow(5, rest[1]))
	// The sum is a double too: above 2^53 only even numbers come out.
	card := uint64(1e15 + float64(belowFloat(9e15, rest[2])))
	putFixed8(mid[33:], card/1e8)
	putFixed8(mid[41:], card%1e8)
	putTwoDigits(mid[52:], 8+scaleBelow(5, rest[3]))
	putTwoDigits(mid[55:], 1+scaleBelow(12, rest[4]))
	n += customerMidLen
	// The customer's number again, of at most ten digits.
	*(*[16]byte)(b[n:]) = *(*[16]byte)(b[:])
	n += start

	tail := (*[len(customerTail)]byte)(b[n:])
	*tail = customerTail
	putTwoDigits(tail[10:], 18+scaleBelow(73, rest[5]))
	n += customerTailLen
	income := &incomes[scaleBelow(5, rest[6])]
	*(*[24]byte)(b[n:]) = income.bytes
	n += income.len
	b[n] = byte('F' + ('M'-'F')*scaleBelow(2, rest[7]))
	return start, middle, n + 1
}

// drawsAfterPlace are the draws behind those for the place.
func (c *customers) drawsAfterPlace(d *[drawsUS]uint32) *[8]uint32 {
	return (*[8]uint32)(d[c.drawsPerRow()-8:])
}

// openRows gives the rows of CUSTOMERS. The texts are those of the row as CSV.
func (c *customers) openRows() Rows {
	// of the last row
	random := c.randomAtStart()
	id := c.first - 1
	csv := new([maxRow]byte)
	row := new([20]Value)
	return func() []Value {
		if id == c.first+c.rows-1 {
			return nil
		}
		id++
		d := (*[drawsUS]uint32)(random.peekDraws(drawsUS))
		random.skipDraws(c.drawsPerRow())
		start, middle, n := c.putRow(csv, id, d)
		rest := c.drawsAfterPlace(d)

		head := csv[start:]
		place := csv[start+customerHeadLen : middle]
		row[0].Int = int64(id)
		row[1].Text = head[1:7]   // first name
		row[2].Text = head[8:18]  // last name
		row[3].Text = head[19:38] // address
		row[5].Text = head[40:47] // city
		if c.world {
			row[7].Text = place[1:6]              // ZIP
			row[8].Text = place[7 : len(place)-3] // country
			row[9].Int = 2                        // region
		} else {
			row[6].Text = place[0:2] // state
			row[7] = Value{Int: int64(10000 + scaleBelow(90000, d[24])), Text: place[3:8]}
			row[8].Text = place[9:11]
			row[9].Int = 1
		}
		mid := csv[middle:]
		tail := csv[middle+customerMidLen+start : n]
		row[10].Text = mid[0:19]                                   // e-mail
		row[11].Text = mid[20:30]                                  // phone
		row[12].Int = int64(1 + scaleBelow(5, rest[1]))            // type of the card
		row[13].Text = mid[33:49]                                  // card
		row[14].Text = mid[50:57]                                  // its expiration
		row[15].Text = mid[58 : customerMidLen+start]              // user name
		row[16].Text = tail[1:9]                                   // password
		row[17].Int = int64(18 + scaleBelow(73, rest[5]))          // age
		row[18].Int = int64(20_000 * (1 + scaleBelow(5, rest[6]))) // income
		row[19].Text = tail[len(tail)-1:]                          // gender
		return row[:]
	}
}

// copyTen copies ten bytes by two moves: of a size that the compiler knows, a copy is no call.
func copyTen(to, from []byte) {
	*(*[8]byte)(to) = *(*[8]byte)(from)
	*(*[2]byte)(to[8:]) = *(*[2]byte)(from[8:])
}

// putLetters writes a letter for each draw.
func putLetters(b []byte, draws []uint32) {
	_ = b[len(draws)-1]
	for i, x := range draws {
		b[i] = byte('A' + scaleBelow(26, x))
	}
}

// customersFile is one of the two files, cut into parts.
func (d *Dataset) customersFile(name string, world bool, first, rows int) File {
	f := File{Name: name, Table: Customers, Seed: d.fileSeed(first)}
	// A part even where there is no row: the file exists.
	for skip := 0; skip == 0 || skip < rows; skip += d.Options.PartRows {
		c := &customers{world, f.Seed, first + skip, min(d.Options.PartRows, rows-skip), skip}
		f.Parts = append(f.Parts,
			d.newPart(name, Customers, c.rows, d.customerBytes(c), c.writeRows, c.openRows))
	}
	return f
}
