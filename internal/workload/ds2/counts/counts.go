// Package counts is what DVD Store counts besides what is counted of any workload.
package counts

import (
	"ds2/internal/measure"
	"ds2/internal/result"
)

// Places in measure.Counts.Own while a run goes on.
const (
	Purchases         = iota // acknowledged calls of PURCHASE, rolled back or not
	Rollbacks                // those that bought nothing, for lack of stock
	NewCustomers             // acknowledged insertions
	InDoubtPurchases         // the connection was lost after the commit may have been sent
	InDoubtCustomers         // the same for new customers
	InDoubtTotalCents        // the sum of the totals of the purchases in doubt
	TotalCents               // the sum of the totals of the acknowledged purchases that were not rolled back, in hundredths
	NamesTaken               // new customers that had to choose another user name
	UnknownUsers             // logins that found nobody; with a whole dataset there are none
)

// All are the counts at their places.
var All = []result.Count{
	Purchases:         {Name: "purchases", After: "orders"},
	Rollbacks:         {Name: "rollbacks", After: "purchases"},
	NewCustomers:      {Name: "new_customers", After: "rollbacks"},
	InDoubtPurchases:  {Name: "in_doubt_purchases", After: "reconnects"},
	InDoubtCustomers:  {Name: "in_doubt_customers", After: "in_doubt_purchases"},
	InDoubtTotalCents: {Name: "in_doubt_total_cents", After: "in_doubt_customers"},
	TotalCents:        {Name: "total_cents", After: "given_up"},
	NamesTaken:        {Name: "names_taken", After: "total_cents"},
	UnknownUsers:      {Name: "unknown_users", After: "names_taken"},
}

// Of is the count of a place, also of counts that were read from a record, which has an order of its own.
func Of(c measure.Counts, place int) int64 { return c.Of(All[place].Name) }
