package postgres

import "encoding/binary"

// appendNumeric appends a number of hundredths as PostgreSQL's binary numeric: base-10000 digits,
// two decimal places.
func appendNumeric(b []byte, v int64) []byte {
	sign := uint16(0)
	if v < 0 {
		sign = 0x4000
		v = -v
	}
	var digits [6]uint16 // from the last one on; 2^63 hundredths have five before the point
	n := 1
	digits[0] = uint16(v%100) * 100
	for v /= 100; v > 0; v /= 10000 {
		digits[n] = uint16(v % 10000)
		n++
	}
	b = binary.BigEndian.AppendUint16(b, uint16(n))
	// The weight of the first digit; -1: none stands before the point.
	b = binary.BigEndian.AppendUint16(b, uint16(n-2))
	b = binary.BigEndian.AppendUint16(b, sign)
	b = binary.BigEndian.AppendUint16(b, 2)
	for n > 0 {
		n--
		b = binary.BigEndian.AppendUint16(b, digits[n])
	}
	return b
}

// ParseNumeric reads a binary numeric of two decimal places as a number of hundredths; false where
// it is none.
func ParseNumeric(b []byte) (hundredths int64, ok bool) {
	if len(b) < 8 {
		return 0, false
	}
	n := int(binary.BigEndian.Uint16(b))
	weight := int(int16(binary.BigEndian.Uint16(b[2:])))
	sign := binary.BigEndian.Uint16(b[4:])
	if len(b) != 8+2*n || weight > 4 || weight < -1 && n > 0 || sign != 0 && sign != 0x4000 {
		return 0, false
	}
	var whole, fraction int64
	for i := range weight + 2 {
		digit := int64(0)
		if i < n {
			digit = int64(binary.BigEndian.Uint16(b[8+2*i:]))
		}
		if i <= weight {
			whole = whole*10000 + digit
		} else {
			fraction = digit
		}
	}
	v := whole*100 + fraction/100
	if sign != 0 {
		v = -v
	}
	return v, true
}
