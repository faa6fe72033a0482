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
	statement, parameters := parseRequest(kind, request)
	if statement == "" {
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
// parameters are the statement and the declaration of the others: [MS-TDS] 2.2.6.6 and 2.2.6.7. It
// is empty where a procedure of a workload is called.
func parseRequest(kind byte, payload []byte) (statement, parameters string) {
	const byNumber, spExecuteSQL = 0xFFFF, 10
	b := payload[binary.LittleEndian.Uint32(payload):] // after the headers
	if kind == typeBatch {
		return decodeUCS2(b), ""
	}
	number := binary.LittleEndian.Uint16
	if number(b) != byNumber || number(b[2:]) != spExecuteSQL {
		return "", ""
	}
	statement, b = textParameter(b[6:]) // after the options
	parameters, _ = textParameter(b)
	return statement, parameters
}

// textParameter reads a parameter of type nvarchar, and gives what follows it. A long one comes in
// pieces, of which go-mssqldb makes one.
func textParameter(b []byte) (value string, rest []byte) {
	const maximum = 0xFFFF
	b = b[1+2*int(b[0]):] // its name
	size := binary.LittleEndian.Uint16(b[2:])
	b = b[9:] // its state, type, size and collation
	if size != maximum {
		end := 2 + binary.LittleEndian.Uint16(b)
		return decodeUCS2(b[2:end]), b[end:]
	}
	end := 12 + binary.LittleEndian.Uint64(b) // the length of all, and of the piece
	return decodeUCS2(b[12:end]), b[end+4:]
}
