package postgres

import (
	"encoding/hex"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNumeric(t *testing.T) {
	for _, test := range []struct {
		hundredths int64
		// Digits, weight, sign, places, then the digits: what PostgreSQL's numeric_send gives, but for leading noughts.
		wire string
	}{
		{0, "0001ffff000000020000"},
		{1, "0001ffff000000020064"},
		{99, "0001ffff0000000226ac"},
		{100, "00020000000000020001" + "0000"},
		{12345, "0002000000000002007b" + "1194"},
		{-12345, "0002000040000002007b" + "1194"},
		{1_000_000, "00030001000000020001" + "0000" + "0000"},
		{math.MaxInt64, ""},
		{-math.MaxInt64, ""},
	} {
		wire := appendNumeric(nil, test.hundredths)
		if got := hex.EncodeToString(wire); test.wire != "" && got != test.wire {
			t.Errorf("%d: got %s, want %s", test.hundredths, got, test.wire)
		}
		if back, ok := ParseNumeric(wire); back != test.hundredths || !ok {
			t.Errorf("%d read back: %d, %v", test.hundredths, back, ok)
		}
	}
}

func TestParseNumericOfTheServer(t *testing.T) {
	for _, test := range []struct {
		wire string
		want int64
		bad  bool
	}{
		{"0000000000000002", 0, false},             // 0: no digit at all
		{"0001ffff0000000226ac", 99, false},        // 0.99
		{"00010000000000020005", 500, false},       // 5.00: trailing noughts are left out
		{"00010001000000020003", 3_000_000, false}, // 30000.00
		{"0002000000000002001426ac", 2099, false},  // 20.99
		{"00010000c00000000000", 0, true},          // not a number
		{"0001fffe000000080001", 0, true},          // 0.00000001
		{"0002000000000002", 0, true},              // cut short
		{"00", 0, true},
	} {
		wire, err := hex.DecodeString(test.wire)
		require.NoError(t, err)
		got, ok := ParseNumeric(wire)
		assert.True(t, got == test.want && ok != test.bad, "%s: got %d, %v", test.wire, got, ok)
	}
}
