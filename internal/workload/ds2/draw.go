// Package ds2 is the workload of DVD Store 2 (WORKLOAD.md section 5): what its virtual customers do
// next, and how they do it on a session. What they do is drawn from a seed and their number, so
// that a run can be repeated; drawing and playing an order allocates nothing.
package ds2

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"ds2/datagen"
	"ds2/internal/workload/ds2/calls"
)

// Config is the parameters of WORKLOAD.md section 5 that shape an order.
type Config struct {
	datagen.Size
	Words           *datagen.Words `json:"-"`
	PctNewCustomers int            `json:"pct_newcustomers"` // of the orders, 0 to 100
	// average number of browses, at least 1
	Searches int `json:"n_searches"`
	// average of products that a browse asks for, at least 1
	SearchBatchSize int `json:"search_batch_size"`
	// average number of items of a cart, 1 to 10
	LineItems int `json:"n_line_items"`
}

// Check refuses parameters that no order can be drawn from. It names them as DS2 does.
func (c Config) Check() error {
	for _, p := range []struct {
		name             string
		value, low, high int
	}{
		{"pct-newcustomers", c.PctNewCustomers, 0, 100},
		{"n-searches", c.Searches, 1, 1000},
		{"search-batch-size", c.SearchBatchSize, 1, 10000},
		{"n-line-items", c.LineItems, 1, calls.MaxItems},
	} {
		if p.value < p.low || p.value > p.high {
			return fmt.Errorf("%s is %d: it must be %d to %d", p.name, p.value, p.low, p.high)
		}
	}
	return c.Size.Check()
}

// Order is one order cycle as drawn. Its texts and slices are views into buffers of the Draws that
// drew it, good until the next call of Next.
type Order struct {
	New                bool           // a new customer, else a login
	Username, Password []byte         // of the login
	Customer           calls.Customer // the new customer; Username is its first choice
	Browses            []calls.Browse
	Items              []calls.Item // the cart, without prices
}

// Total is what a cart with prices costs, with 8.25 % tax rounded to the cent.
func Total(items []calls.Item) (net, tax, total calls.Cents) {
	for _, i := range items {
		net += i.Price * calls.Cents(i.Quantity)
	}
	tax = (net*825 + 5000) / 10000
	return net, tax, net + tax
}

// Draws draws the orders of one virtual customer. It is used by one goroutine.
type Draws struct {
	config Config
	rand   *rand.Rand
	order  Order
	texts  []byte
	names  int // how many user names new customers draw from
	taken  int // names of this order that were taken
	name   []byte
}

// NewDraws makes user number of a run. Users of one seed and different numbers draw independently
// of each other. The config has passed Check.
func NewDraws(c Config, seed, number uint64) *Draws {
	return &Draws{
		config: c,
		rand:   rand.New(rand.NewPCG(seed, number)),
		names:  c.Size.Customers,
		order: Order{
			Browses: make([]calls.Browse, 0, 2*c.Searches-1),
			Items:   make([]calls.Item, 0, calls.MaxItems),
		},
		texts: make([]byte, 0, 256+(2*c.Searches-1)*2*maxWord),
		name:  make([]byte, 0, 32),
	}
}

// maxWord is the length of the longest word plus the blank after it.
const maxWord = 25

// drawBetween draws from low to high, both included.
func (u *Draws) drawBetween(low, high int) int { return low + u.rand.IntN(high-low+1) }

// drawAround draws from 1 to 2·average−1.
func (u *Draws) drawAround(average int) int { return u.drawBetween(1, 2*average-1) }

// Next draws an order.
func (u *Draws) Next() *Order {
	o := &u.order
	u.texts = u.texts[:0]
	u.taken = 0
	if o.New = u.rand.IntN(100) < u.config.PctNewCustomers; o.New {
		u.newCustomer(&o.Customer)
	} else {
		o.Username = u.numberedText("user", 1, u.config.Size.Customers)
		o.Password = u.joinText("password")
	}
	u.drawBrowses(o)
	o.Items = o.Items[:0]
	for range min(u.drawAround(u.config.LineItems), calls.MaxItems) {
		item := calls.Item{Product: u.drawProduct(), Quantity: int16(u.drawBetween(1, 3))}
		o.Items = append(o.Items, item)
	}
	return o
}

// drawBrowses draws the searches of an order: how many, of which of the three kinds, and for what
// (WORKLOAD.md section 5).
func (u *Draws) drawBrowses(o *Order) {
	o.Browses = o.Browses[:0]
	words := u.config.Words
	word := func(list []string) string { return list[u.rand.IntN(len(list))] }
	for range u.drawAround(u.config.Searches) {
		b := calls.Browse{Op: calls.OpBrowseByCategory + calls.Op(u.rand.IntN(3))}
		b.Batch = u.drawAround(u.config.SearchBatchSize)
		switch b.Op {
		case calls.OpBrowseByCategory:
			b.Category = u.drawBetween(1, 16)
		case calls.OpBrowseByActor:
			b.Text = u.joinText(word(words.First[:]), " ", word(words.Last[:]))
		case calls.OpBrowseByTitle:
			b.Text = u.joinText(word(words.Titles[:]), " ", word(words.Titles[:]))
		}
		o.Browses = append(o.Browses, b)
	}
}

// Every popularEvery-th product is popularWeight times as likely as any other.
const (
	popularEvery  = 10_000
	popularWeight = 10
)

// drawProduct draws a product for the cart. The numbers above those of the products stand for the
// further chances of the popular ones.
func (u *Draws) drawProduct() int32 {
	products := u.config.Size.Products
	n := u.rand.IntN(products + (popularWeight-1)*(products/popularEvery))
	if n < products {
		return int32(n + 1)
	}
	return int32((n-products)/(popularWeight-1)+1) * popularEvery
}

// AnotherName gives the new customer of the last order another user name, the one before being
// taken. DS2 draws from as many names as there are customers, for ever: in a long run they run out,
// and new customers would try ever longer. So after every takenInARow names that were taken in one
// order, the user draws from twice as many from then on. While few of DS2's names are taken, that
// hardly ever happens.
func (u *Draws) AnotherName() {
	if u.taken++; u.taken%takenInARow == 0 {
		u.names = min(2*u.names, maxNames)
	}
	number := int64(u.drawBetween(1, u.names))
	u.name = strconv.AppendInt(append(u.name[:0], "newuser"...), number, 10)
	u.order.Customer.Username = u.name
}

const (
	takenInARow = 4
	maxNames    = 1 << 40
)

// joinText puts the parts together in the user's buffer.
func (u *Draws) joinText(parts ...string) []byte {
	b := u.texts
	for _, p := range parts {
		b = append(b, p...)
	}
	return u.takeText(b)
}

// numberedText is a number behind a prefix.
func (u *Draws) numberedText(prefix string, low, high int) []byte {
	number := int64(u.drawBetween(low, high))
	return u.takeText(strconv.AppendInt(append(u.texts, prefix...), number, 10))
}

// takeText keeps what was appended to the user's buffer, and gives it. Its capacity ends with it,
// so that nothing appends over the next.
func (u *Draws) takeText(texts []byte) []byte {
	start := len(u.texts)
	u.texts = texts
	return texts[start:len(texts):len(texts)]
}

// newCustomer draws a customer in the forms of the dataset (WORKLOAD.md section 3), from the US or
// the rest of the world by halves.
func (u *Draws) newCustomer(c *calls.Customer) {
	c.FirstName = u.drawLetters(6)
	c.LastName = u.drawLetters(10)
	c.City = u.drawLetters(7)
	if u.rand.IntN(2) == 0 {
		c.State = u.joinText(datagen.States[u.rand.IntN(len(datagen.States))])
		c.Zip = u.numberedText("", 10000, 99999)
		c.Country = u.joinText("US")
		c.Region = 1
	} else {
		c.State = nil
		c.Zip = u.joinText("00000")
		c.Country = u.joinText(datagen.Countries[u.rand.IntN(len(datagen.Countries))])
		c.Region = 2
	}
	c.Phone = u.numberedText("", 1_000_000_000, 9_999_999_999)
	c.Address1 = u.takeText(append(append(u.texts, c.Phone...), " Dell Way"...))
	c.Address2 = nil
	c.Email = u.takeText(append(append(u.texts, c.LastName...), "@dell.com"...))
	c.CreditCardType = int32(u.drawBetween(1, 5))
	c.CreditCard = u.numberedText("", 1_000_000_000_000_000, 9_999_999_999_999_999)
	c.CreditCardExpiration = u.drawExpiration()
	c.Username = u.numberedText("newuser", 1, u.names)
	c.Password = u.joinText("password")
	c.Age = int16(u.drawBetween(18, 90))
	c.Income = int32(20_000 * u.drawBetween(1, 5))
	c.Gender = "FM"[u.rand.IntN(2)]
}

// drawLetters is a name of n capitals, as the dataset has them.
func (u *Draws) drawLetters(n int) []byte {
	b := u.texts
	for range n {
		b = append(b, byte(u.drawBetween('A', 'Z')))
	}
	return u.takeText(b)
}

// drawExpiration is a month of the years 2008 to 2012, as 2012/03.
func (u *Draws) drawExpiration() []byte {
	year := u.drawBetween(2008, 2012)
	month := u.drawBetween(1, 12)
	text := strconv.AppendInt(u.texts, int64(year), 10)
	return u.takeText(append(text, '/', byte('0'+month/10), byte('0'+month%10)))
}
