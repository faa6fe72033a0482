package measure

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCountsAsJSON writes and reads counts with some of a workload's own, and adds up those of two records that have
// them in another order.
func TestCountsAsJSON(t *testing.T) {
	c := Counts{Orders: 7, Dropped: 1, Own: [MaxOwn]int64{5, 3}, Names: &[]string{"rollbacks", "cents"}}
	text, err := json.Marshal(c)
	require.NoError(t, err)
	want := `{"orders":7,"retries":0,"reconnects":0,"given_up":0,"offered":0,"dropped":1,"rollbacks":5,"cents":3}`
	assert.Equal(t, want, string(text))
	var read Counts
	require.NoError(t, json.Unmarshal(text, &read))
	c.Add(read)
	assert.True(t, c.Orders == 14 && c.Of("rollbacks") == 10 && c.Of("cents") == 6 && read.Of("orders") == 0,
		"%+v read, %+v in all", read, c)
	c.Add(Counts{Own: [MaxOwn]int64{1}})                              // of a user
	c.Add(Counts{Own: [MaxOwn]int64{100}, Names: &[]string{"other"}}) // of another workload
	assert.True(t, c.Of("rollbacks") == 11 && c.Of("cents") == 6 && c.Of("other") == 0, "%+v", c)
	read = Counts{Orders: 1}
	require.NoError(t, json.Unmarshal([]byte("null"), &read))
	assert.EqualValues(t, 1, read.Orders)
	require.NoError(t, json.Unmarshal([]byte(`{"orders":2}`), &read))
	assert.Equal(t, Counts{Orders: 2}, read, "none of its own")
	many := `{"c":1`
	for i := range MaxOwn {
		many += fmt.Sprintf(`,"c%d":1`, i)
	}
	for _, bad := range []string{`[]`, `{"orders":"x"}`, `{"cents":1.5}`, many + "}"} {
		assert.Error(t, json.Unmarshal([]byte(bad), new(Counts)), "%s was read", bad)
	}
}
