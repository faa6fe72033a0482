package ds2

import (
	"strconv"

	"ds2/datagen"
	"ds2/internal/workload/ds2/calls"
)

// newCustomer draws a customer in the forms of the dataset (WORKLOAD.md section 3), from the US or the rest of the
// world by halves.
func (u *Draws) newCustomer(c *calls.Customer) {
	c.FirstName, c.LastName, c.City = u.letters(6), u.letters(10), u.letters(7)
	if u.rand.IntN(2) == 0 {
		c.State = u.text(datagen.States[u.rand.IntN(len(datagen.States))])
		c.Zip = u.number(10000, 99999)
		c.Country = u.text("US")
		c.Region = 1
	} else {
		c.State = nil
		c.Zip = u.text("00000")
		c.Country = u.text(datagen.Countries[u.rand.IntN(len(datagen.Countries))])
		c.Region = 2
	}
	c.Phone = u.number(1_000_000_000, 9_999_999_999)
	c.Address1 = u.joined(c.Phone, " Dell Way")
	c.Address2 = nil
	c.Email = u.joined(c.LastName, "@dell.com")
	c.CreditCardType = int32(u.between(1, 5))
	c.CreditCard = u.number(1_000_000_000_000_000, 9_999_999_999_999_999)
	c.CreditCardExpiration = u.expiration()
	c.Username = u.username("newuser", u.names)
	c.Password = u.text("password")
	c.Age = int16(u.between(18, 90))
	c.Income = int32(20_000 * u.between(1, 5))
	c.Gender = "FM"[u.rand.IntN(2)]
}

func (u *Draws) letters(n int) []byte {
	b := u.texts
	for range n {
		b = append(b, byte(u.between('A', 'Z')))
	}
	return u.take(b)
}

func (u *Draws) number(low, high int) []byte {
	return u.take(strconv.AppendInt(u.texts, int64(u.between(low, high)), 10))
}

func (u *Draws) joined(text []byte, suffix string) []byte {
	return u.take(append(append(u.texts, text...), suffix...))
}

// expiration is a month of the years 2008 to 2012, as 2012/03.
func (u *Draws) expiration() []byte {
	year, month := u.between(2008, 2012), u.between(1, 12)
	return u.take(append(strconv.AppendInt(u.texts, int64(year), 10), '/', byte('0'+month/10), byte('0'+month%10)))
}
