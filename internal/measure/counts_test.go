package measure

import (
	"encoding/json"
	"reflect"
	"strings"
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
	if err := json.Unmarshal([]byte("null"), &read); err != nil || read.Orders != 1 {
		t.Errorf("null: %+v, %v", read, err)
	}
	if err := json.Unmarshal([]byte(`{"orders":2}`), &read); err != nil || !reflect.DeepEqual(read, Counts{Orders: 2}) {
		t.Errorf("none of its own: %+v, %v", read, err)
	}
	for _, bad := range []string{`[]`, `{"orders":"x"}`, `{"cents":1.5}`, `{` + many(MaxOwn+1) + `}`} {
		assert.Error(t, json.Unmarshal([]byte(bad), new(Counts)), "%s was read", bad)
	}
}

// many are so many counts.
func many(n int) string {
	var all []string
	for i := range n {
		all = append(all, `"c`+strings.Repeat("x", i)+`":1`)
	}
	return strings.Join(all, ",")
}
