package sqlserver

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver/reading"
	"ds2/internal/store/sqlserver/tdstest"
)

// hostileAnswers never end: what go-mssqldb would keep in memory for as long as it comes. Each fills its last packet
// with whole tokens, or with what is inside of one.
func hostileAnswers() map[string][]byte {
	const payload = 4096 - 8
	fill := func(token []byte) []byte { return bytes.Repeat(token, payload/len(token)) }
	column := []byte{0x81, 1, 0, 0, 0, 0, 0, 0, 0, typeNVarChar, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1, 'X', 0} // nvarchar(max)
	value := func(size uint64) []byte {
		b := binary.LittleEndian.AppendUint64(append(bytes.Clone(column), 0xD1), size)
		b = binary.LittleEndian.AppendUint32(b, 0x7FFF_FFF0) // of the first part
		return append(b, make([]byte, 2*payload-len(b))...)
	}
	const unknown = 0xFFFF_FFFF_FFFF_FFFE
	return map[string][]byte{
		"2.2.7.17 ROW: a value of unknown length": value(unknown),
		"2.2.7.13 INFO: messages without end":     fill(tdstest.Info(1, 1, strings.Repeat("x", 100))),
		"2.2.7.10 ERROR: errors without end":      fill(tdstest.Error(50000, 1, 16, strings.Repeat("x", 100))),
	}
}

// TestEndlessAnswer has a server that sends what has no end: the connection is given up, and the memory stays. So it
// goes for the questions of a pool, and for users by either path.
func TestEndlessAnswer(t *testing.T) {
	for clause, answer := range hostileAnswers() {
		for path, open := range paths {
			t.Run(clause+", "+path, func(t *testing.T) {
				server := tdstest.Start(t, tdstest.Options{Endless: true, Request: func([]byte) []byte { return answer }})
				s := open(t, server.URL("DS2"))
				gaveUp := func(who string, err error) {
					t.Helper()
					if err == nil || store.Classify(err) != store.Connection || !strings.Contains(err.Error(), "without a row or an end") || len(err.Error()) > 1000 {
						t.Errorf("%s: %.300v of class %s", who, err, store.Classify(err))
					}
				}
				most := watchHeap(t)
				var text string
				gaveUp("pool", s.Wrap("ask", s.DB().QueryRowContext(t.Context(), "SELECT 1").Scan(&text)))
				_, err := s.DB().ExecContext(t.Context(), "SELECT 1")
				gaveUp("statement", s.Wrap("ask", err))
				err = call(t.Context(), connect(t, s))
				gaveUp("user", err)
				if taken := most(); taken > 8*maxAnswer {
					t.Errorf("it took %d MiB", taken>>20)
				}
			})
		}
	}
}

// watchHeap gives how much the heap came to hold at most from now on, without what is only reserved.
func watchHeap(t *testing.T) (most func() uint64) {
	t.Helper()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	return func() uint64 {
		var after runtime.MemStats
		runtime.ReadMemStats(&after)
		return after.Sys - min(before.Sys, after.Sys)
	}
}

// TestOtherColumns has a server answer an encrypted call with fewer columns and with more than the procedure's.
func TestOtherColumns(t *testing.T) {
	for columns := range 3 {
		answer := []byte{0x81, byte(columns), 0}
		for range columns {
			answer = append(answer, 0, 0, 0, 0, 0, 0, 0x38, 0) // int
		}
		answer = append(append(answer, 0xD1), make([]byte, 4*columns)...)
		server := tdstest.Start(t, tdstest.Options{Encryption: tdstest.EncryptAll, Certificate: selfSigned(t, "127.0.0.1", false),
			Request: func([]byte) []byte { return tdstest.Answer(answer, tdstest.Done(tdstest.DoneFinal)) }})
		conn := connect(t, openURL(t, server.URL("DS2", "encrypt", "true", "trustservercertificate", "true")))
		if err := call(t.Context(), conn); (err == nil) != (columns == 1) || !conn.whole() {
			t.Errorf("%d columns: %v", columns, err)
		}
		conn.Call(0)
		conn.Int32(1)
		first := int64(-1)
		if err := conn.Each(t.Context(), true, AnyColumns, func(row []Value) error { first = row[0].N; return nil }); (err == nil) != (first == 0) || (err == nil) != (columns > 0) {
			t.Errorf("%d of any columns: %v", columns, err)
		}
	}
}

// manyRows are more rows than one may have bytes: none is held against the next. 240 MB in all.
const manyRows = 40_000

func manyRowsAnswer() []byte {
	row := append([]byte{0xD1, 0x70, 0x17}, make([]byte, 6000)...)
	columns := []byte{0x81, 1, 0, 0, 0, 0, 0, 0, 0, typeVarChar, 0x40, 0x1F, 0, 0, 0, 0, 0, 1, 'X', 0}
	return tdstest.Answer(columns, bytes.Repeat(row, manyRows), tdstest.Done(tdstest.DoneFinal))
}

// TestManyRows has a pool read them.
func TestManyRows(t *testing.T) {
	answer := manyRowsAnswer()
	server := tdstest.Start(t, tdstest.Options{Request: func([]byte) []byte { return answer }})
	found, err := openURL(t, server.URL("DS2")).DB().QueryContext(t.Context(), "SELECT X")
	require.NoError(t, err)
	defer found.Close()
	n := 0
	for found.Next() {
		n++
	}
	if err := found.Err(); err != nil || n != manyRows {
		t.Errorf("%d rows of %d, %v", n, manyRows, err)
	}
}

// TestScrubOfManyRows has a scan read them, as rows of one table, to the end of its pass.
func TestScrubOfManyRows(t *testing.T) {
	answer := manyRowsAnswer()
	server := tdstest.Start(t, tdstest.Options{Request: func([]byte) []byte { return answer }})
	s := openURL(t, server.URL("DS2"))
	const rowBytes = 8192
	r, err := s.readers.Scrub(t.Context(), reading.Table{Name: "[dbo].[X]", RowBytes: rowBytes})
	require.NoError(t, err)
	defer r.Close()
	bytes := int64(0)
	for last := false; !last; {
		read, err := r.Read(t.Context())
		require.NoError(t, err, "after %d bytes", bytes)
		bytes, last = bytes+read.Bytes, read.Last
	}
	if bytes != manyRows*rowBytes {
		t.Errorf("a pass read %d bytes, not %d", bytes, manyRows*rowBytes)
	}
}
