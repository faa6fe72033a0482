package sqlserver

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/tdstest"
)

// Tokens and types of columns: [MS-TDS] 2.2.7, 2.2.5.4.
const (
	tokenColumns, tokenRow, tokenNBCRow             = 0x81, 0xD1, 0xD2
	typeInt, typeIntN, typeVarBinary, typeVarChar   = 0x38, 0x26, 0xA5, 0xA7
	typeNVarChar, typeMoney, typeMoney4, typeBigInt = 0xE7, 0x3C, 0x7A, 0x7F
)

// metadata is COLMETADATA of columns named I, each of a type with what it says of its values:
// [MS-TDS] 2.2.7.4.
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
var (
	sevenRow = []byte{tokenRow, 4, 7, 0, 0, 0}
	seven    = idAnswer(nil, sevenRow, tdstest.Done(tdstest.DoneFinal))
)

// TestAnswers gives a call each shape of an answer: what is not whole and well-formed is an error,
// never a row that counts.
func TestAnswers(t *testing.T) {
	// errors without the server's number: of the server, and any
	const unnamed, other = 0x7FFFFFFF, -1
	row := sevenRow
	done := tdstest.Done(tdstest.DoneFinal)
	failed := tdstest.Done(tdstest.DoneError)
	long := tdstest.Info(1, 1, strings.Repeat("x", 9000))
	for _, c := range []struct {
		clause string
		answer []byte
		id     int64
		fails  int32 // the server's number, or one of the above
	}{
		{"2.2.7.17 ROW", seven, 7, 0},
		{
			"2.2.7.15 NBCROW, not null", idAnswer(nil, []byte{tokenNBCRow, 0, 4, 9, 0, 0, 0}, done),
			9, 0,
		},
		{"2.2.7.15 NBCROW, null", idAnswer(nil, []byte{tokenNBCRow, 1}, done), 0, 0},
		{"2.2.3.1.2 an answer of several packets", idAnswer(long, row, done), 7, 0},
		{
			"2.2.7.10 ERROR after a row",
			idAnswer(nil, row, tdstest.Error(1205, 51, 13, "Deadlock."), failed), 0, 1205,
		},
		{
			"2.2.7.10 ERROR of class 20",
			idAnswer(nil, row, tdstest.Error(823, 1, 24, "I/O."), failed), 0, 823,
		},
		{"2.2.7.6 DONE_ERROR without ERROR", idAnswer(nil, row, failed), 0, unnamed},
		{"2.2.7.6 no final DONE", idAnswer(nil, row), 0, other},
		{
			"2.2.7.6 DONE_MORE at the end", idAnswer(nil, row, tdstest.Done(tdstest.DoneMore)), 0,
			other,
		},
		{
			"2.2.7.10 ERROR, and no DONE",
			idAnswer(nil, row, tdstest.Error(823, 1, 16, "I/O error.")), 0, other,
		},
		{"nothing", []byte{}, 0, other},
		{"2.2.5.4.1 bigint", fixed(typeBigInt, 7, 0, 0, 0, 0, 0, 0, 0), 7, 0},
		{
			"2.2.5.4.1 money: its upper half first", fixed(typeMoney, 0, 0, 0, 0, 0x10, 0x27, 0, 0),
			10_000, 0,
		},
		{"2.2.5.4.1 smallmoney", fixed(typeMoney4, 0x10, 0x27, 0, 0), 10_000, 0},
		{"a token that there is not", idAnswer(nil, row, []byte{0x01, 2, 3}), 0, other},
		{"an answer that ends in a token", idAnswer(nil, row[:3]), 0, other},
		{"a row before its columns", tdstest.Answer(row, done), 0, other},
		{"two columns where one is due", tdstest.Answer(metadata(intN4, intN4), done), 0, other},
	} {
		t.Run(c.clause, func(t *testing.T) {
			sent := make(chan []byte, 1)
			server := tdstest.Start(t, tdstest.Options{Request: func(b []byte) []byte {
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
			assert.True(t, bytes.Contains(<-sent, name), "the server got no name of 7,000 bytes")
			assert.Equal(t, c.id, id)
			assert.Equal(t, c.fails != 0, err != nil, "%v", err)
			e, said := errors.AsType[mssql.Error](err)
			bySaid := said && (c.fails == unnamed || e.Number == c.fails)
			assert.True(t, c.fails <= 0 || bySaid, "got %v", err)
		})
	}
}

// fixed is an answer of one column of a type of a fixed length: [MS-TDS] 2.2.5.4.1.
func fixed(kind byte, value ...byte) []byte {
	row := append([]byte{tokenRow}, value...)
	return tdstest.Answer(metadata([]byte{kind}), row, tdstest.Done(tdstest.DoneFinal))
}

// TestBinary reads a binary column, which may be NULL.
func TestBinary(t *testing.T) {
	body := bytes.Repeat([]byte{0xAB}, 300)
	answer := tdstest.Answer(
		metadata([]byte{typeInt}, []byte{typeVarBinary, 0x40, 0x1F}), // varbinary(8000)
		append(
			[]byte{tokenRow, 5, 0, 0, 0, 0x2C, 0x01},
			body...),
		[]byte{tokenRow, 6, 0, 0, 0, 0xFF, 0xFF},
		tdstest.Done(tdstest.DoneFinal),
	)
	server := tdstest.Start(t, tdstest.Options{Request: func([]byte) []byte { return answer }})
	conn := connect(t, openURL(t, server.URL("DS2")))
	var found []string
	conn.Call(0)
	conn.AddParam(-2)
	conn.AddParam(body)
	err := conn.Each(t.Context(), false, 2, func(values []Value) error {
		found = append(
			found,
			fmt.Sprint(values[0].N, values[1].Null, slices.Equal(body, values[1].Bytes)),
		)
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, []string{"5 false true", "6 true false"}, found)
}

// TestOtherColumns has a server answer an encrypted call with fewer columns and with more than the
// procedure's.
func TestOtherColumns(t *testing.T) {
	for columns := range 3 {
		zeros := append([]byte{tokenRow}, make([]byte, 4*columns)...)
		answer := tdstest.Answer(
			metadata(slices.Repeat([][]byte{{0x38}}, columns)...),
			zeros,
			tdstest.Done(0),
		) // ints
		server := tdstest.Start(t, tdstest.Options{
			Certificate: selfSigned(t, "127.0.0.1", false),
			Encryption:  tdstest.EncryptAll, Request: func([]byte) []byte { return answer },
		})
		conn := connect(
			t,
			openURL(t, server.URL("DS2", "encrypt", "true", "trustservercertificate", "true")),
		)
		err := call(t.Context(), conn)
		assert.Equal(t, columns == 1, err == nil, "%d columns: %v", columns, err)
		assert.True(t, conn.conn.IsValid(), "%d columns", columns)
	}
}

// manyRows are more than a connection buffers.
const manyRows = 4_000

// TestManyRows has scans read them, as rows of one table: to the end of a pass, and to that of a
// context.
func TestManyRows(t *testing.T) {
	row := append([]byte{tokenRow, 0x70, 0x17}, make([]byte, 6000)...)
	varchar8000 := []byte{typeVarChar, 0x40, 0x1F, 0, 0, 0, 0, 0}
	answer := tdstest.Answer(
		metadata(varchar8000),
		bytes.Repeat(row, manyRows),
		tdstest.Done(tdstest.DoneFinal),
	)
	s := openURL(t, tdstest.Start(t, tdstest.Options{Request: func([]byte) []byte {
		return answer
	}}).URL("DS2"))
	const rowBytes = 8192
	r, err := s.connectScrub(t.Context(), scrubTable{name: "[dbo].[X]", rowBytes: rowBytes})
	require.NoError(t, err)
	defer r.Close()
	bytes := int64(0)
	for last := false; !last; {
		read, err := r.Read(t.Context())
		require.NoError(t, err, "after %d bytes", bytes)
		bytes = bytes + read.Bytes
		last = read.Last
	}
	require.EqualValues(t, manyRows*rowBytes, bytes, "of a pass")

	r, err = s.connectScrub(t.Context(), scrubTable{name: "[dbo].[X]", rowBytes: rowBytes})
	require.NoError(t, err)
	defer r.Close()
	ctx, cancel := context.WithCancel(t.Context())
	read, err := r.Read(ctx)
	require.NoError(t, err)
	for cancel(); err == nil && !read.Last; {
		read, err = r.Read(ctx)
	}
	require.Error(t, err, "a scan goes on after its context has ended")
}
