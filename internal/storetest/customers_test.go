package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/workload/ds2/calls"
)

func (s *suite) testLogin(t *testing.T) {
	session := s.openSession(t)
	buyer := s.queryNumber(t, "SELECT MIN(customerid) FROM cust_hist")
	titles := int(s.countRows(t, "cust_hist WHERE customerid = %d", buyer))
	for _, test := range []struct {
		name, username, password string
		customer                 int64
		titles                   int
	}{
		{"with titles", fmt.Sprintf("user%d", buyer), "password", buyer, titles},
		{
			"without titles", fmt.Sprintf("user%d", s.idleCustomer(t)), "password",
			s.idleCustomer(t), 0,
		},
		{"unknown user", "user0", "password", 0, 0},
		{"wrong password", fmt.Sprintf("user%d", buyer), "passwort", 0, 0},
		{"no password", fmt.Sprintf("user%d", buyer), "", 0, 0},
	} {
		customer, titles, err := session.Login(
			t.Context(),
			[]byte(test.username),
			[]byte(test.password),
		)
		require.NoError(t, err, test.name)
		assert.Equal(t, test.customer, customer, test.name)
		assert.Equal(t, test.titles, titles, test.name)
	}
}

// idleCustomer is a customer who never bought anything.
func (s *suite) idleCustomer(t *testing.T) int64 {
	return s.queryNumber(t, `SELECT MIN(customerid) FROM customers
		WHERE NOT EXISTS (SELECT 1 FROM cust_hist WHERE cust_hist.customerid = customers.customerid)`)
}

func newCustomer(username string) *calls.Customer {
	return &calls.Customer{
		FirstName:            []byte("O'BRIEN"),
		LastName:             []byte("LASTNAME"),
		Address1:             []byte("1 Dell Way"),
		Address2:             []byte(""),
		City:                 []byte("CITY"),
		State:                []byte(""),
		Zip:                  []byte("00000"),
		Country:              []byte("South Africa"),
		Region:               2,
		Email:                []byte("LASTNAME@dell.com"),
		Phone:                []byte("1234567890"),
		CreditCardType:       3,
		CreditCard:           []byte("1234567890123456"),
		CreditCardExpiration: []byte("2012/03"),
		Username:             []byte(username),
		Password:             []byte("password"),
		Age:                  55,
		Income:               100_000,
		Gender:               'F',
	}
}

// logIn has the first customer of the dataset log in.
func logIn(ctx context.Context, session calls.Session) error {
	_, _, err := session.Login(ctx, []byte("user1"), []byte("password"))
	return err
}

func (s *suite) newCustomer(t *testing.T) {
	session := s.openSession(t)
	id, err := session.NewCustomer(t.Context(), newCustomer("newuser1"))
	require.NoError(t, err)
	assert.Greater(t, id, int64(Size.Customers), "though %d customers were loaded", Size.Customers)
	const columns = `firstname, lastname, address1, COALESCE(address2, 'null'), city, COALESCE(state, 'null'), zip,
		country, region, email, phone, creditcardtype, creditcard,
		creditcardexpiration, username, password,
		age, income, gender`
	assert.Equal(t, []string{"O'BRIEN,LASTNAME,1 Dell Way,null,CITY,null,00000,South Africa,2," +
		"LASTNAME@dell.com,1234567890,3,1234567890123456,2012/03,newuser1,password,55,100000,F"},
		s.readCSV(t, "SELECT %s FROM customers WHERE customerid = %d", columns, id))

	again, err := session.NewCustomer(t.Context(), newCustomer("newuser1"))
	require.NoError(t, err)
	assert.Zero(t, again, "id for a name that is taken")
	customer, titles, err := session.Login(t.Context(), []byte("newuser1"), []byte("password"))
	require.NoError(t, err)
	assert.True(
		t,
		customer == id && titles == 0,
		"login of the new customer: %d, %d titles",
		customer,
		titles,
	)
}

func (s *suite) newCustomerRace(t *testing.T) {
	for round := range 5 {
		name := fmt.Sprintf("newuser%d", 100+round)
		ids := make([]int64, 4)
		var users sync.WaitGroup
		for i := range ids {
			session := s.openSession(t)
			users.Go(func() {
				var err error
				if ids[i], err = session.NewCustomer(t.Context(), newCustomer(name)); err != nil {
					t.Error(err)
				}
			})
		}
		users.Wait()
		taken := slices.DeleteFunc(ids, func(id int64) bool { return id == 0 })
		assert.Len(t, taken, 1, "users who got the name "+name)
		assert.EqualValues(
			t,
			1,
			s.countRows(t, "customers WHERE username = '%s'", name),
			"customers of the name "+name,
		)
	}
}
