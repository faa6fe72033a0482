package conclude

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/measure"
	"ds2/internal/result"
)

// TestSlowest: the slowest orders are those that ended in the window, the slowest first.
func TestSlowest(t *testing.T) {
	var in Input
	in.Series.Slow = []measure.SlowOrder{
		{From: time.Second, To: 2 * time.Second, Operation: "login"},
		{
			From: 3 * time.Second, To: 6 * time.Second, Operation: "purchase",
			OperationFrom: 4 * time.Second, OperationTo: 6 * time.Second,
		},
		{From: 61 * time.Second, To: 70 * time.Second, Operation: "login"}, // after the window
	}
	require.Equal(t, []result.SlowOrder{
		{From: 3, To: 6, Operation: "purchase", OperationFrom: 4, OperationTo: 6}, {From: 1, To: 2, Operation: "login"},
	}, newView(in, &measure.Window{From: 0, To: 60}).slowest())
	require.Nil(t, newView(in, &measure.Window{From: 10, To: 20}).slowest())
}
