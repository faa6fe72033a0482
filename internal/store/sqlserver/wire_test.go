package sqlserver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"

	"ds2/internal/store/sqlserver/tdstest"
)

// idAnswer is a result set of one int, with what else the test wants before and after it.
func idAnswer(before []byte, row []byte, after ...[]byte) []byte {
	columns := []byte{0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x26, 4, 1, 'I', 0} // [MS-TDS] 2.2.7.4: one INTN(4), named I
	return tdstest.Answer(append([][]byte{before, columns, row}, after...)...)
}

// TestAnswers gives both paths each shape of an answer: what is not whole and well-formed is an error, never a row that
// counts.
func TestAnswers(t *testing.T) {
	row := []byte{0xD1, 4, 7, 0, 0, 0}
	done := tdstest.Done(tdstest.DoneFinal)
	for _, c := range []struct {
		clause string
		answer []byte
		id     int64
		fails  int32 // the server's number, -1: anything else
		broken bool  // on the wire
	}{
		{"2.2.7.17 ROW", idAnswer(nil, row, done), 7, 0, false},
		{"2.2.7.15 NBCROW, not null", idAnswer(nil, []byte{0xD2, 0, 4, 9, 0, 0, 0}, done), 9, 0, false},
		{"2.2.7.15 NBCROW, null", idAnswer(nil, []byte{0xD2, 1}, done), 0, 0, false},
		{"2.2.3.1.2 an answer of several packets", idAnswer(tdstest.Info(1, 1, strings.Repeat("x", 9000)), row, done), 7, 0, false},
		{"2.2.7.18 RETURNSTATUS and DONEPROC", idAnswer(nil, row, []byte{0xFF, 0x11, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, []byte{0x79, 0, 0, 0, 0}, []byte{0xFE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), 7, 0, false},
		{"2.2.7.10 ERROR after a row", idAnswer(nil, row, tdstest.Error(1205, 51, 13, "Deadlock."), tdstest.Done(tdstest.DoneError)), 0, 1205, false},
		{"2.2.7.10 ERROR of class 20", idAnswer(nil, row, tdstest.Error(823, 1, 24, "I/O error."), tdstest.Done(tdstest.DoneError)), 0, 823, true},
		{"2.2.7.6 DONE_SRVERROR", idAnswer(nil, row, tdstest.Error(596, 1, 21, "Killed."), tdstest.Done(0x100|tdstest.DoneError)), 0, 596, true},
		{"2.2.7.6 DONE_ERROR without ERROR", idAnswer(nil, row, tdstest.Done(tdstest.DoneError)), 0, 0x7FFFFFFF, false},
		{"2.2.7.7 DONEINPROC with DONE_ERROR, without ERROR", idAnswer(nil, row, inProc(tdstest.DoneMore|tdstest.DoneError), done), 0, -2, false},
		{"2.2.7.6 no final DONE", idAnswer(nil, row), 0, -1, true},
		{"2.2.7.7 DONEINPROC at the end", idAnswer(nil, row, inProc(tdstest.DoneFinal)), 0, -2, true},
		{"2.2.7.6 DONE_MORE at the end", idAnswer(nil, row, tdstest.Done(tdstest.DoneMore)), 0, -1, true},
		{"2.2.7.6 DONE_ATTN that nobody asked for", idAnswer(nil, row, tdstest.Done(tdstest.DoneAttention)), 0, -2, true},
		{"2.2.7.6 a row after the final DONE", idAnswer(nil, nil, done, row, done), 0, -2, true},
		{"2.2.7.10 ERROR, and no DONE", idAnswer(nil, row, tdstest.Error(823, 1, 16, "I/O error.")), 0, -1, true},
		{"nothing", []byte{}, 0, -1, true},
		{"2.2.5.4.1 tinyint, 0x30", fixed(0x30, 200), 200, 0, false},
		{"2.2.5.4.1 bit, 0x32", fixed(0x32, 1), 1, 0, false},
		{"2.2.5.4.1 smallint, 0x34", fixed(0x34, 0xFE, 0xFF), -2, 0, false},
		{"2.2.5.4.1 bigint, 0x7F", fixed(0x7F, 7, 0, 0, 0, 0, 0, 0, 0), 7, 0, false},
		{"2.2.5.4.1 money, 0x3C: its upper half first", fixed(0x3C, 0, 0, 0, 0, 0x10, 0x27, 0, 0), 10_000, 0, false},
		{"2.2.5.4.1 smallmoney, 0x7A", fixed(0x7A, 0x10, 0x27, 0, 0), 10_000, 0, false},
		{"2.2.5.4.2 an int of three bytes", idAnswer(nil, []byte{0xD1, 3, 7, 0, 0}, done), 0, -1, true},
		{"a token that there is not", idAnswer(nil, row, []byte{0x01, 2, 3}), 0, -1, true},
		{"an answer that ends in a token", idAnswer(nil, row[:3]), 0, -1, true},
		{"a row before its columns", tdstest.Answer(row, done), 0, -1, true},
		{"two columns where one is due", []byte{0x81, 2, 0, 0, 0, 0, 0, 0, 0, 0x26, 4, 0, 0, 0, 0, 0, 0, 0, 0x26, 4, 0, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, -1, false},
	} {
		for path, open := range paths {
			t.Run(c.clause+", "+path, func(t *testing.T) {
				if path == "driver" && c.fails == -2 {
					t.Skip("go-mssqldb reads such answers in its own way")
				}
				sent := make(chan []byte, 1)
				server := tdstest.Start(t, tdstest.Options{Request: func(b []byte) []byte {
					sent <- bytes.Clone(b)
					return c.answer
				}})
				conn := connect(t, open(t, server.URL("DS2")))
				name := bytes.Repeat([]byte("n"), 7000) // a request of several packets: 2.2.3.1.2
				var id int64
				conn.Call(0)
				conn.Text(name)
				err := conn.Each(t.Context(), true, 1, func(values []Value) error {
					id = values[0].N
					return nil
				})
				if err != nil {
					id = 0
				}
				if got := <-sent; !bytes.Contains(got, name) {
					t.Errorf("the server got %d bytes, without the name of 7,000", len(got))
				}
				e, said := errors.AsType[mssql.Error](err)
				if id != c.id || (err != nil) != (c.fails != 0) || c.fails > 0 && (!said || c.fails != unnamed && e.Number != c.fails) {
					t.Errorf("got %d, %v", id, err)
				}
				if path == "wire" && conn.whole() == c.broken {
					t.Errorf("after %v the connection counts as whole: %v", err, conn.whole())
				}
			})
		}
	}
}

// unnamed is an error of the server's without its number.
const unnamed = 0x7FFFFFFF

// inProc is the token DONEINPROC: [MS-TDS] 2.2.7.7.
func inProc(status uint16) []byte {
	b := tdstest.Done(status)
	b[0] = 0xFF
	return b
}

// fixed is an answer of one column of a type of a fixed length: [MS-TDS] 2.2.5.4.1.
func fixed(kind byte, value ...byte) []byte {
	columns := []byte{0x81, 1, 0, 0, 0, 0, 0, 0, 0, kind, 1, 'I', 0}
	return tdstest.Answer(columns, append([]byte{0xD1}, value...), tdstest.Done(tdstest.DoneFinal))
}

// TestPacketSizes has the server settle on sizes of packets: it takes no others, and sends such itself.
func TestPacketSizes(t *testing.T) {
	for _, size := range []int{512, 4096, 8192, 16383, 32767} {
		for path, open := range paths {
			body := bytes.Repeat([]byte("b"), 7000)
			answer := idAnswer(tdstest.Info(1, 1, strings.Repeat("x", 20_000)), []byte{0xD1, 4, 7, 0, 0, 0}, tdstest.Done(tdstest.DoneFinal))
			got := make(chan int, 1)
			server := tdstest.Start(t, tdstest.Options{PacketSize: size, Request: func(b []byte) []byte {
				got <- bytes.Count(b, body)
				return answer
			}})
			conn := connect(t, open(t, server.URL("DS2", "packet size", strconv.Itoa(size))))
			for range 2 {
				conn.CallText("write", []byte("SELECT @p1"), []byte("@p1 varbinary(8000),@p2 varbinary(8000),@p3 varbinary(8000),@p4 varbinary(8000),@p5 varbinary(8000)"))
				for range 5 {
					conn.Binary(body)
				}
				id := int64(0)
				err := conn.Each(t.Context(), true, 1, func(row []Value) error { id = row[0].N; return nil })
				if err != nil || id != 7 {
					t.Fatalf("%s, packets of %d: %d, %v", path, size, id, err)
				}
				assert.Equal(t, 5, <-got, "%s, packets of %d: the server", path, size)
			}
		}
	}
}

// TestPanicOfRows: what the reader of rows does wrong is not taken for an answer that is.
func TestPanicOfRows(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a panic is gone")
		}
	}()
	var a answer
	a.read(idAnswer(nil, []byte{0xD1, 4, 7, 0, 0, 0}, tdstest.Done(tdstest.DoneFinal)), 1, func(row []Value) error { panic(row[0].N) })
}

// TestTexts sends texts with parameters, one longer than nvarchar takes in one part, and reads an answer of two tables.
func TestTexts(t *testing.T) {
	binaryColumn := []byte{0x81, 2, 0, 0, 0, 0, 0, 0, 0, 0x38, 0, 0, 0, 0, 0, 0, 0, 0xA5, 0x40, 0x1F, 0} // int, varbinary(8000)
	body := bytes.Repeat([]byte{0xAB}, 300)
	bodyRow := append([]byte{0xD1, 5, 0, 0, 0, 0x2C, 0x01}, body...)
	answer := idAnswer(nil, []byte{0xD1, 4, 7, 0, 0, 0}, tdstest.Done(1), binaryColumn, bodyRow, []byte{0xD1, 6, 0, 0, 0, 0xFF, 0xFF}, tdstest.Done(tdstest.DoneFinal))
	for _, c := range []struct {
		long bool
		path string
	}{{false, "wire"}, {true, "wire"}, {false, "driver"}, {true, "driver"}} {
		long := c.long
		sent := make(chan []byte, 1)
		options := tdstest.Options{Request: func(b []byte) []byte {
			sent <- bytes.Clone(b)
			return answer
		}}
		server := tdstest.Start(t, options)
		conn := connect(t, paths[c.path](t, server.URL("DS2")))
		text := "SELECT @p1; SELECT @p2"
		if long {
			text += strings.Repeat(";", 4000)
		}
		var found []string
		conn.CallText("read", []byte(text), []byte("@p1 bigint,@p2 varbinary(8000)"))
		conn.Int64(-2)
		conn.Binary(body)
		err := conn.Each(t.Context(), false, AnyColumns, func(values []Value) error {
			found = append(found, fmt.Sprint(len(values), values[0].N))
			if len(values) == 2 && (values[1].Null != (values[0].N == 6) || !values[1].Null && !bytes.Equal(values[1].Bytes, body)) {
				t.Errorf("got %d bytes", len(values[1].Bytes))
			}
			return nil
		})
		if got := strings.Join(found, ", "); err != nil || got != "1 7, 2 5, 2 6" {
			t.Errorf("%+v: rows of columns: %s, %v", c, got, err)
		}
		if c.path == "driver" {
			continue
		}
		var unicode []byte
		for _, c := range []byte(text) {
			unicode = append(unicode, c, 0)
		}
		size := uint32(len(unicode))
		value := append([]byte{0xE7, byte(size), byte(size >> 8), 0, 0, 0, 0, 0, byte(size), byte(size >> 8)}, unicode...) // 2.2.5.2.2
		if long {
			length := binary.LittleEndian.AppendUint32(nil, size)
			value = append([]byte{0xE7, 0xFF, 0xFF, 0, 0, 0, 0, 0}, append(append(length, 0, 0, 0, 0), length...)...) // 2.2.5.2.3 PLP_BODY
			value = append(append(value, unicode...), 0, 0, 0, 0)
		}
		number := append([]byte{3, '@', 0, 'p', 0, '1', 0, 0, 0x26, 8, 8}, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF)
		last := append([]byte{3, '@', 0, 'p', 0, '2', 0, 0, 0xA5, 0x40, 0x1F, 0x2C, 0x01}, body...)
		if got := <-sent; !bytes.Contains(got, value) || !bytes.HasSuffix(got, append(number, last...)) {
			t.Errorf("long %v: the request of %d bytes is another", long, len(got))
		}
		sql, declared := []byte("x"), []byte("y")
		n := testing.AllocsPerRun(100, func() {
			conn.CallText("read", sql, declared)
			conn.Int64(1)
			conn.Binary(body)
		})
		if n > 0 {
			t.Errorf("%v allocations a request", n)
		}
	}
}
