package tdstest

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
)

// textsVariable names a directory into which each statement that a client sends is written, a file
// each, for .ci/tsql to have Microsoft's parser and compiler check them.
const textsVariable = "DS2_TSQL_TEXTS"

// recordStatement writes a statement, its parameters as a comment before it.
func recordStatement(kind byte, request []byte) {
	dir := os.Getenv(textsVariable)
	if dir == "" {
		return
	}
	statement, parameters, ok := parseRequest(kind, request)
	if !ok {
		return
	}
	content := []byte("-- parameters: " + parameters + "\n" + statement + "\n")
	name := fnv.New64a()
	name.Write(content)
	path := filepath.Join(dir, fmt.Sprintf("text_%016x.sql", name.Sum64()))
	if err := os.WriteFile(path, content, 0o600); err != nil {
		panic(err) // a check that has not all texts is none
	}
}

// parseRequest gives the statement of a batch or of a call of sp_executesql, whose first two
// parameters are the statement and the declaration of the others: [MS-TDS] 2.2.6.6 and 2.2.6.7.
func parseRequest(kind byte, payload []byte) (statement, parameters string, ok bool) {
	const byNumber, spExecuteSQL = 0xFFFF, 10
	if len(payload) < 4 {
		return "", "", false
	}
	headers := int(binary.LittleEndian.Uint32(payload))
	if headers < 4 || len(payload) < headers+6 {
		return "", "", false
	}
	b := payload[headers:]
	if kind == typeBatch {
		return decodeUCS2(b), "", true
	}
	if binary.LittleEndian.Uint16(b) != byNumber { // a procedure of a workload
		return "", "", false
	}
	if binary.LittleEndian.Uint16(b[2:]) != spExecuteSQL {
		return "", "", false
	}
	b = b[6:] // with the options
	if statement, b, ok = textParameter(b); !ok {
		return "", "", false
	}
	parameters, _, _ = textParameter(b)
	return statement, parameters, true
}

// textParameter reads a parameter of type nvarchar, and gives what follows it.
func textParameter(b []byte) (value string, rest []byte, ok bool) {
	const nvarchar, maximum = 0xE7, 0xFFFF
	if len(b) < 1 {
		return "", nil, false
	}
	b = b[1+2*int(b[0]):] // its name
	if len(b) < 11 || b[1] != nvarchar {
		return "", nil, false
	}
	size := binary.LittleEndian.Uint16(b[2:])
	b = b[9:] // the type, its size and a collation
	if size != maximum {
		n := int(binary.LittleEndian.Uint16(b))
		if n == 0xFFFF || len(b) < 2+n {
			return "", nil, false
		}
		return decodeUCS2(b[2 : 2+n]), b[2+n:], true
	}
	var units []byte
	for b = b[8:]; len(b) >= 4; { // the length of all, then pieces, each with its own
		n := int(binary.LittleEndian.Uint32(b))
		if b = b[4:]; n == 0 || len(b) < n {
			break
		}
		units = append(units, b[:n]...)
		b = b[n:]
	}
	return decodeUCS2(units), b, true
}
