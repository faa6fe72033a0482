package tdstest

import (
	"encoding/binary"
	"slices"
	"unicode/utf16"
)

// Tokens of a server's answer: [MS-TDS] 2.2.7. Each function gives one token's bytes; an answer is some of them in a
// row.

// The status bits of DONE: [MS-TDS] 2.2.7.6.
const (
	DoneFinal     = 0x0000
	DoneMore      = 0x0001
	DoneError     = 0x0002
	DoneAttention = 0x0020
)

// Error is the token ERROR: [MS-TDS] 2.2.7.10. A class of 20 or more closes the connection.
func Error(number int32, state, class byte, message string) []byte {
	return messageToken(0xAA, number, state, class, message)
}

// Info is the token INFO: [MS-TDS] 2.2.7.13.
func Info(number int32, state byte, message string) []byte {
	return messageToken(0xAB, number, state, 0, message)
}

func messageToken(token byte, number int32, state, class byte, message string) []byte {
	text := ucs2(message)
	b := binary.LittleEndian.AppendUint32(nil, uint32(number))
	b = binary.LittleEndian.AppendUint16(append(b, state, class), uint16(len(text)/2))
	noProcedure := shortText("")
	return sized(token, slices.Concat(b, text, shortText("SERVER"), noProcedure, []byte{1, 0, 0, 0})) // line 1
}

// Database is the token ENVCHANGE of type 1, into another database: [MS-TDS] 2.2.7.9.
func Database(now, before string) []byte {
	return sized(0xE3, slices.Concat([]byte{1}, shortText(now), shortText(before)))
}

// LoginAck is the token LOGINACK of SQL Server 2019: [MS-TDS] 2.2.7.14.
func LoginAck() []byte {
	sqlTDS74 := []byte{1, 0x74, 0x00, 0x00, 0x04}
	return sized(0xAD, slices.Concat(sqlTDS74, shortText("Microsoft SQL Server"), []byte{15, 0, 0x07, 0xD0}))
}

// Done is the token DONE: [MS-TDS] 2.2.7.6.
func Done(status uint16) []byte {
	b := binary.LittleEndian.AppendUint16([]byte{0xFD}, status)
	return append(b, make([]byte, 2+8)...) // no command, no rows
}

// Failed is an answer of tokens that ends with an error.
func Failed(tokens ...[]byte) []byte { return append(Answer(tokens...), Done(DoneError)...) }

// Answer joins tokens.
func Answer(tokens ...[]byte) []byte { return slices.Concat(tokens...) }

// sized is a token with the length of what follows as two bytes.
func sized(token byte, data []byte) []byte {
	return append(binary.LittleEndian.AppendUint16([]byte{token}, uint16(len(data))), data...)
}

// shortText is a B_VARCHAR: [MS-TDS] 2.2.5.1.2.
func shortText(text string) []byte {
	b := ucs2(text)
	return append([]byte{byte(len(b) / 2)}, b...)
}

func ucs2(text string) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, utf16.Encode([]rune(text)))
	return b
}
