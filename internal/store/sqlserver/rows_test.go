package sqlserver

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/datagen"
)

func TestConvert(t *testing.T) {
	for _, c := range []struct {
		kind  string
		value datagen.Value
		want  any
	}{
		{"SMALLINT", datagen.Value{Int: -7}, int64(-7)},
		{"MONEY", datagen.Value{Int: 1299}, "12.99"},
		{"MONEY", datagen.Value{Int: 5}, "0.05"},
		{"DATETIME", datagen.Value{Int: 14_609}, time.Date(2009, 12, 31, 0, 0, 0, 0, time.UTC)},
		{"VARCHAR", datagen.Value{Text: []byte("a")}, []byte("a")},
		{"VARCHAR", datagen.Value{}, nil},
	} {
		got, err := convertValue(&c.value, column{"C", c.kind})
		require.NoError(t, err)
		assert.Equal(t, c.want, got, c.kind)
	}
	_, err := convertValue(&datagen.Value{}, column{"C", "XML"})
	assert.ErrorContains(t, err, "column C is of type XML")
}

func TestParseMoney(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"12.9900", "129900"},
		{"0.0000", "0"},
		{"-3.0500", "-30500"},
		{"12.99", `amount "12.99" is not a number with four places`},
		{"1e3", `amount "1e3" is not a number with four places`},
	} {
		amount, err := parseMoney([]byte(c.in))
		got := fmt.Sprint(amount)
		if err != nil {
			got = err.Error()
		}
		assert.Equal(t, c.want, got, c.in)
	}
}
