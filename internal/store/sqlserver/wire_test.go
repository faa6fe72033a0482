package sqlserver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"

	"ds2/internal/store/sqlserver/tdstest"
)

// idAnswer is a result set of one int, with what else the test wants before and after it.
func idAnswer(before []byte, row []byte, after ...[]byte) []byte {
	columns := []byte{0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x26, 4, 1, 'I', 0} // [MS-TDS] 2.2.7.4: one INTN(4), named I
	return tdstest.Answer(append([][]byte{before, columns, row}, after...)...)
}

func TestWire(t *testing.T) {
	row := []byte{0xD1, 4, 7, 0, 0, 0}
	done := tdstest.Done(tdstest.DoneFinal)
	for _, c := range []struct {
		clause string
		answer []byte
		id     int64
		fails  int32 // the server's number, -1: anything else
		broken bool
	}{
		{"2.2.7.17 ROW", idAnswer(nil, row, done), 7, 0, false},
		{"2.2.7.15 NBCROW, not null", idAnswer(nil, []byte{0xD2, 0, 4, 9, 0, 0, 0}, done), 9, 0, false},
		{"2.2.7.15 NBCROW, null", idAnswer(nil, []byte{0xD2, 1}, done), 0, 0, false},
		{"2.2.3.1.2 an answer of several packets", idAnswer(tdstest.Info(1, 1, strings.Repeat("x", 9000)), row, done), 7, 0, false},
		{"2.2.7.18 RETURNSTATUS and DONEPROC", idAnswer(nil, row, []byte{0xFF, 0x11, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, []byte{0x79, 0, 0, 0, 0}, []byte{0xFE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}), 7, 0, false},
		{"2.2.7.10 ERROR after a row", idAnswer(nil, row, tdstest.Error(1205, 51, 13, "Deadlock."), tdstest.Done(tdstest.DoneError)), 0, 1205, false},
		{"2.2.7.10 ERROR of class 20", idAnswer(nil, row, tdstest.Error(823, 1, 24, "I/O error."), tdstest.Done(tdstest.DoneError)), 0, 823, true},
		{"2.2.7.6 DONE_SRVERROR", idAnswer(nil, row, tdstest.Error(596, 1, 21, "Killed."), tdstest.Done(0x100|tdstest.DoneError)), 0, 596, true},
		{"a token that there is not", idAnswer(nil, row, []byte{0x01, 2, 3}), 0, -1, true},
		{"an answer that ends in a token", idAnswer(nil, row[:3]), 0, -1, true},
		{"a row before its columns", tdstest.Answer(row, done), 0, -1, true},
		{"two columns where one is due", []byte{0x81, 2, 0, 0, 0, 0, 0, 0, 0, 0x26, 4, 0, 0, 0, 0, 0, 0, 0, 0x26, 4, 0, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0, -1, false},
	} {
		t.Run(c.clause, func(t *testing.T) {
			sent := make(chan []byte, 1)
			server := tdstest.Start(t, tdstest.Options{Encryption: tdstest.EncryptNothing, Request: func(b []byte) []byte {
				sent <- bytes.Clone(b)
				return c.answer
			}})
			conn := connect(t, openURL(t, server.URL("DS2")))
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
			if id != c.id || (err != nil) != (c.fails != 0) || said != (c.fails > 0) || said && e.Number != c.fails {
				t.Errorf("got %d, %v", id, err)
			}
			if conn.whole() == c.broken {
				t.Errorf("after %v the connection counts as whole: %v", err, conn.whole())
			}
		})
	}
}

// TestTexts sends texts with parameters, one longer than nvarchar takes in one part, and reads an answer of two tables.
func TestTexts(t *testing.T) {
	binaryColumn := []byte{0x81, 2, 0, 0, 0, 0, 0, 0, 0, 0x38, 0, 0, 0, 0, 0, 0, 0, 0xA5, 0x40, 0x1F, 0} // int, varbinary(8000)
	body := bytes.Repeat([]byte{0xAB}, 300)
	bodyRow := append([]byte{0xD1, 5, 0, 0, 0, 0x2C, 0x01}, body...)
	answer := idAnswer(nil, []byte{0xD1, 4, 7, 0, 0, 0}, tdstest.Done(1), binaryColumn, bodyRow, []byte{0xD1, 6, 0, 0, 0, 0xFF, 0xFF}, tdstest.Done(tdstest.DoneFinal))
	for _, c := range []struct{ long, encrypted bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		long := c.long
		sent := make(chan []byte, 1)
		options := tdstest.Options{Encryption: tdstest.EncryptNothing, Request: func(b []byte) []byte {
			sent <- bytes.Clone(b)
			return answer
		}}
		if c.encrypted { // go-mssqldb calls
			options.Encryption, options.Certificate = tdstest.EncryptAll, tdstest.SelfSigned(t, "127.0.0.1", false)
		}
		server := tdstest.Start(t, options)
		conn := connect(t, openURL(t, server.URL("DS2")))
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
		if c.encrypted {
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
