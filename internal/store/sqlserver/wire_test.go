package sqlserver

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/fuzztest"
	"ds2/internal/store/sqlserver/tdstest"
)

// metadata is COLMETADATA of columns named I, each of a type with what it says of its values: [MS-TDS] 2.2.7.4.
func metadata(columns ...[]byte) []byte {
	b := binary.LittleEndian.AppendUint16([]byte{tokenColumns}, uint16(len(columns)))
	for _, kind := range columns {
		b = append(append(b, make([]byte, 6)...), kind...)
		b = append(b, 1, 'I', 0)
	}
	return b
}

// The types of columns.
var intN4, nvarchar4000 = []byte{typeIntN, 4}, []byte{typeNVarChar, 0x40, 0x1F, 0, 0, 0, 0, 0}

// idAnswer is a result set of one int, with what else the test wants before and after it.
func idAnswer(before []byte, row []byte, after ...[]byte) []byte {
	return tdstest.Answer(append([][]byte{before, metadata(intN4), row}, after...)...)
}

// sevenRow is a row of it, and seven the answer.
var sevenRow = []byte{tokenRow, 4, 7, 0, 0, 0}
var seven = idAnswer(nil, sevenRow, tdstest.Done(tdstest.DoneFinal))

// unnamed is an error of the server's without its number, other any of go-mssqldb's or ours; wireOnly is one of ours
// alone, since go-mssqldb reads such answers in its own way.
const unnamed, other, wireOnly = 0x7FFFFFFF, -1, -2

// TestAnswers gives both paths each shape of an answer: what is not whole and well-formed is an error, never a row that
// counts.
func TestAnswers(t *testing.T) {
	row, done, failed := sevenRow, tdstest.Done(tdstest.DoneFinal), tdstest.Done(tdstest.DoneError)
	long := tdstest.Info(1, 1, strings.Repeat("x", 9000))
	doneProc := append([]byte{tokenDoneProc}, tdstest.Done(tdstest.DoneFinal)[1:]...)
	for _, c := range []struct {
		clause string
		answer []byte
		id     int64
		fails  int32 // the server's number, or one of the above
		broken bool  // on the wire
	}{
		{"2.2.7.17 ROW", seven, 7, 0, false},
		{"2.2.7.15 NBCROW, not null", idAnswer(nil, []byte{tokenNBCRow, 0, 4, 9, 0, 0, 0}, done), 9, 0, false},
		{"2.2.7.15 NBCROW, null", idAnswer(nil, []byte{tokenNBCRow, 1}, done), 0, 0, false},
		{"2.2.3.1.2 an answer of several packets", idAnswer(long, row, done), 7, 0, false},
		{"2.2.7.18 RETURNSTATUS and DONEPROC",
			idAnswer(nil, row, inProc(0x11), []byte{tokenReturnStatus, 0, 0, 0, 0}, doneProc), 7, 0, false},
		{"2.2.7.10 ERROR after a row",
			idAnswer(nil, row, tdstest.Error(1205, 51, 13, "Deadlock."), failed), 0, 1205, false},
		{"2.2.7.10 ERROR of class 20", idAnswer(nil, row, tdstest.Error(823, 1, 24, "I/O."), failed), 0, 823, true},
		{"2.2.7.6 DONE_SRVERROR",
			idAnswer(nil, row, tdstest.Error(596, 1, 21, "Killed."), tdstest.Done(doneLost|doneError)), 0, 596, true},
		{"2.2.7.6 DONE_ERROR without ERROR", idAnswer(nil, row, failed), 0, unnamed, false},
		{"2.2.7.7 DONEINPROC with DONE_ERROR, without ERROR",
			idAnswer(nil, row, inProc(doneMore|doneError), done), 0, wireOnly, false},
		{"2.2.7.6 no final DONE", idAnswer(nil, row), 0, other, true},
		{"2.2.7.7 DONEINPROC at the end", idAnswer(nil, row, inProc(tdstest.DoneFinal)), 0, wireOnly, true},
		{"2.2.7.6 DONE_MORE at the end", idAnswer(nil, row, tdstest.Done(tdstest.DoneMore)), 0, other, true},
		{"2.2.7.6 DONE_ATTN that nobody asked for",
			idAnswer(nil, row, tdstest.Done(tdstest.DoneAttention)), 0, wireOnly, true},
		{"2.2.7.6 a row after the final DONE", idAnswer(nil, nil, done, row, done), 0, wireOnly, true},
		{"2.2.7.10 ERROR, and no DONE", idAnswer(nil, row, tdstest.Error(823, 1, 16, "I/O error.")), 0, other, true},
		{"nothing", []byte{}, 0, other, true},
		{"2.2.5.4.1 tinyint, 0x30", fixed(0x30, 200), 200, 0, false},
		{"2.2.5.4.1 bit, 0x32", fixed(0x32, 1), 1, 0, false},
		{"2.2.5.4.1 smallint, 0x34", fixed(0x34, 0xFE, 0xFF), -2, 0, false},
		{"2.2.5.4.1 bigint, 0x7F", fixed(0x7F, 7, 0, 0, 0, 0, 0, 0, 0), 7, 0, false},
		{"2.2.5.4.1 money, 0x3C: its upper half first", fixed(0x3C, 0, 0, 0, 0, 0x10, 0x27, 0, 0), 10_000, 0, false},
		{"2.2.5.4.1 smallmoney, 0x7A", fixed(0x7A, 0x10, 0x27, 0, 0), 10_000, 0, false},
		{"2.2.5.4.2 an int of three bytes", idAnswer(nil, []byte{tokenRow, 3, 7, 0, 0}, done), 0, other, true},
		{"a token that there is not", idAnswer(nil, row, []byte{0x01, 2, 3}), 0, other, true},
		{"an answer that ends in a token", idAnswer(nil, row[:3]), 0, other, true},
		{"a row before its columns", tdstest.Answer(row, done), 0, other, true},
		{"two columns where one is due", tdstest.Answer(metadata(intN4, intN4), done), 0, other, false},
	} {
		for path, open := range paths {
			t.Run(c.clause+", "+path, func(t *testing.T) {
				if path == "driver" && c.fails == wireOnly {
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
				assert.True(t, bytes.Contains(<-sent, name), "the server got no name of 7,000 bytes")
				assert.Equal(t, c.id, id)
				assert.Equal(t, c.fails != 0, err != nil, "%v", err)
				e, said := errors.AsType[mssql.Error](err)
				if c.fails > 0 && (!said || c.fails != unnamed && e.Number != c.fails) {
					t.Errorf("got %v", err)
				}
				if path == "wire" {
					assert.Equal(t, !c.broken, conn.whole(), "the connection is whole after %v", err)
				}
			})
		}
	}
}

// inProc is the token DONEINPROC: [MS-TDS] 2.2.7.7.
func inProc(status uint16) []byte {
	return append([]byte{tokenDoneInProc}, tdstest.Done(status)[1:]...)
}

// fixed is an answer of one column of a type of a fixed length: [MS-TDS] 2.2.5.4.1.
func fixed(kind byte, value ...byte) []byte {
	row := append([]byte{tokenRow}, value...)
	return tdstest.Answer(metadata([]byte{kind}), row, tdstest.Done(tdstest.DoneFinal))
}

// TestPacketSizes has the server settle on sizes of packets: it takes no others, and sends such itself.
func TestPacketSizes(t *testing.T) {
	body, declared := bytes.Repeat([]byte("b"), 7000), strings.Repeat(",@p varbinary(8000)", 5)
	answer := append(tdstest.Info(1, 1, strings.Repeat("x", 20_000)), seven...)
	for _, size := range []int{512, 4096, 8192, 16383, 32767} {
		for path, open := range paths {
			got := make(chan int, 1)
			server := tdstest.Start(t, tdstest.Options{PacketSize: size, Request: func(b []byte) []byte {
				got <- bytes.Count(b, body)
				return answer
			}})
			conn := connect(t, open(t, server.URL("DS2", "packet size", strconv.Itoa(size))))
			for range 2 {
				conn.CallText("write", []byte("SELECT @p1"), []byte(declared[1:]))
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
	var a answer
	assert.Panics(t, func() { _ = a.read(seven, 1, func(row []Value) error { panic(row[0].N) }) })
}

// TestTexts sends texts with parameters, one longer than nvarchar takes in one part, and reads an answer of two tables.
func TestTexts(t *testing.T) {
	columns := metadata([]byte{0x38}, []byte{typeVarBinary, 0x40, 0x1F}) // int, varbinary(8000)
	body := bytes.Repeat([]byte{0xAB}, 300)
	bodyRow := append([]byte{tokenRow, 5, 0, 0, 0, 0x2C, 0x01}, body...)
	nullRow := []byte{tokenRow, 6, 0, 0, 0, 0xFF, 0xFF}
	answer := idAnswer(nil, sevenRow, tdstest.Done(doneMore), columns, bodyRow, nullRow, tdstest.Done(0))
	for _, c := range []struct {
		long bool
		path string
	}{{false, "wire"}, {true, "wire"}, {false, "driver"}, {true, "driver"}} {
		sent := make(chan []byte, 1)
		server := tdstest.Start(t, tdstest.Options{Request: func(b []byte) []byte {
			sent <- bytes.Clone(b)
			return answer
		}})
		conn := connect(t, paths[c.path](t, server.URL("DS2")))
		text := "SELECT @p1; SELECT @p2"
		if c.long {
			text += strings.Repeat(";", 4000)
		}
		var found []string
		conn.CallText("read", []byte(text), []byte("@p1 bigint,@p2 varbinary(8000)"))
		conn.Int64(-2)
		conn.Binary(body)
		err := conn.Each(t.Context(), false, AnyColumns, func(values []Value) error {
			found = append(found, fmt.Sprint(len(values), values[0].N))
			if len(values) == 2 && values[0].N == 6 {
				assert.True(t, values[1].Null)
			} else if len(values) == 2 {
				assert.False(t, values[1].Null)
				assert.Equal(t, body, values[1].Bytes)
			}
			return nil
		})
		require.NoError(t, err, "%+v", c)
		require.Equal(t, []string{"1 7", "2 5", "2 6"}, found, "%+v: columns and numbers of rows", c)
		if c.path == "driver" {
			continue
		}
		var unicode []byte
		for _, c := range []byte(text) {
			unicode = append(unicode, c, 0)
		}
		size := uint32(len(unicode))
		short := []byte{byte(size), byte(size >> 8)}
		value := slices.Concat([]byte{typeNVarChar}, short, make([]byte, 5), short, unicode) // 2.2.5.2.2
		if c.long {
			length := binary.LittleEndian.AppendUint32(nil, size)
			none := make([]byte, 4) // 2.2.5.2.3 PLP_BODY
			value = slices.Concat([]byte{typeNVarChar, 0xFF, 0xFF, 0}, none, length, none, length, unicode, none)
		}
		minus2 := []byte{0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}
		number := append([]byte{3, '@', 0, 'p', 0, '1', 0, 0, typeIntN, 8, 8}, minus2...)
		last := append([]byte{3, '@', 0, 'p', 0, '2', 0, 0, 0xA5, 0x40, 0x1F, 0x2C, 0x01}, body...)
		got := <-sent
		assert.True(t, bytes.Contains(got, value), "%+v: the text", c)
		assert.True(t, bytes.HasSuffix(got, append(number, last...)), "%+v: the parameters", c)
		sql, declared := []byte("x"), []byte("y")
		n := testing.AllocsPerRun(100, func() {
			conn.CallText("read", sql, declared)
			conn.Int64(1)
			conn.Binary(body)
		})
		assert.Zero(t, n, "allocations a request")
	}
}

// TestRecorded: of two users the first one's calls and answers are in the file, packet for packet, and nothing of the
// login.
func TestRecorded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wire")
	t.Setenv(recordFile, path)
	answer := idAnswer(nil, []byte{0xD1, 4, 7, 0, 0, 0}, tdstest.Done(tdstest.DoneFinal))
	server := tdstest.Start(t, tdstest.Options{Request: func([]byte) []byte { return answer }})
	s := openWire(t, server.URL("DS2"))
	first, second := connect(t, s), connect(t, s)
	for _, conn := range []*Conn{first, second, first} {
		conn.Call(0)
		require.NoError(t, conn.Each(t.Context(), true, 1, func([]Value) error { return nil }))
	}
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	var kinds []byte
	for len(kept) > 0 {
		kinds = append(kinds, kept[0])
		kept = kept[int(kept[2])<<8+int(kept[3]):]
	}
	require.Equal(t, []byte{packetRPC, packetAnswer, packetRPC, packetAnswer}, kinds)
}

// FuzzAnswer has a server answer a call with any tokens.
func FuzzAnswer(f *testing.F) {
	recorded, err := filepath.Glob("../../workload/ds2/sqlserver/testdata/exchange/*.bin")
	if err != nil || len(recorded) == 0 {
		f.Fatalf("no recorded answers, %v", err)
	}
	examples := [][]byte{
		tdstest.Failed(tdstest.Info(1, 1, "on"), tdstest.Error(1205, 51, 13, "Deadlock.")),
		idAnswer(nil, []byte{0xD2, 0, 4, 9, 0, 0, 0}, tdstest.Done(tdstest.DoneFinal)),
	}
	for _, path := range recorded {
		text, err := os.ReadFile(path)
		require.NoError(f, err)
		examples = append(examples, text)
	}
	fuzztest.Run(f, func(t testing.TB, tokens []byte) {
		var a answer
		for _, columns := range []int{1, 4, 7} {
			a.read(tokens, columns, func(values []Value) error {
				assert.Equal(t, columns, len(values), "a row")
				return nil
			})
		}
	}, examples...)
}
