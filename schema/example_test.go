package schema_test

import (
	"fmt"
	"os"

	"ds2/schema"
)

// The SQL of a phase, as ds2 schema prints it, statement by statement.
func ExampleStatements() {
	statements, err := schema.Statements("postgres", schema.Indexes, schema.Params{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	for _, statement := range statements[:3] {
		fmt.Println(statement.Name)
	}
	// Output:
	// freeze orderlines
	// freeze customers
	// freeze cust_hist
}
