package calls

import "ds2/internal/measure"

// What DVD Store counts besides what is counted of any workload: places in measure.Counts.Own while
// a run goes on.
const (
	Purchases         = iota // acknowledged calls of PURCHASE, rolled back or not
	Rollbacks                // those that bought nothing, for lack of stock
	NewCustomers             // acknowledged insertions
	InDoubtPurchases         // the connection was lost after the commit may have been sent
	InDoubtCustomers         // the same for new customers
	InDoubtTotalCents        // the sum of the totals of the purchases in doubt
	// the sum of the totals of the purchases that bought something, in hundredths
	TotalCents
	NamesTaken   // new customers that had to choose another user name
	UnknownUsers // logins that found no user; with a whole dataset there are none
)

// Counts are the names of the counts at their places.
var Counts = []string{
	Purchases:         "purchases",
	Rollbacks:         "rollbacks",
	NewCustomers:      "new_customers",
	InDoubtPurchases:  "in_doubt_purchases",
	InDoubtCustomers:  "in_doubt_customers",
	InDoubtTotalCents: "in_doubt_total_cents",
	TotalCents:        "total_cents",
	NamesTaken:        "names_taken",
	UnknownUsers:      "unknown_users",
}

// Count is the count of a place, also of counts that were read from a record, whose order may
// differ.
func Count(c measure.Counts, place int) int64 { return c.Of(Counts[place]) }
