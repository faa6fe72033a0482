package sqlserver

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver/tdstest"
)

// TestEndlessAnswer has a server that sends what go-mssqldb would keep for as long as it comes: the connection is given
// up, and the memory stays. So it goes for the questions of a pool, and for users. Each answer fills its last packet
// with whole tokens, or with what is inside of one.
func TestEndlessAnswer(t *testing.T) {
	const payload = 4096 - 8
	fill := func(token []byte) []byte { return bytes.Repeat(token, payload/len(token)) }
	const unknown = 0xFFFF_FFFF_FFFF_FFFE
	value := append(metadata([]byte{typeNVarChar, 0xFF, 0xFF, 0, 0, 0, 0, 0}), tokenRow) // nvarchar(max)
	value = binary.LittleEndian.AppendUint64(value, unknown)
	value = binary.LittleEndian.AppendUint32(value, 0x7FFF_FFF0) // of the first part
	value = append(value, make([]byte, 2*payload-len(value))...)
	for clause, answer := range map[string][]byte{
		"2.2.7.17 ROW: a value of unknown length": value,
		"2.2.7.13 INFO: messages without end":     fill(tdstest.Info(1, 1, strings.Repeat("x", 100))),
		"2.2.7.10 ERROR: errors without end":      fill(tdstest.Error(50000, 1, 16, strings.Repeat("x", 100))),
	} {
		t.Run(clause, func(t *testing.T) {
			options := tdstest.Options{Endless: true, Request: func([]byte) []byte { return answer }}
			s := openURL(t, tdstest.Start(t, options).URL("DS2"))
			gaveUp := func(who string, err error) {
				t.Helper()
				said := fmt.Sprintf("%.1000v", err)
				if store.Classify(err) != store.Connection || !strings.Contains(said, "without a row or an end") ||
					len(said) == 1000 {
					t.Errorf("%s: %s of class %s", who, said, store.Classify(err))
				}
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var text string
			gaveUp("pool", s.Wrap("ask", s.DB().QueryRowContext(t.Context(), "SELECT 1").Scan(&text)))
			_, err := s.DB().ExecContext(t.Context(), "SELECT 1")
			gaveUp("statement", s.Wrap("ask", err))
			gaveUp("user", call(t.Context(), connect(t, s)))
			runtime.ReadMemStats(&after)
			if after.Sys > before.Sys+8*maxAnswer {
				t.Errorf("it took %d MiB", (after.Sys-before.Sys)>>20)
			}
		})
	}
}

// TestOtherColumns has a server answer an encrypted call with fewer columns and with more than the procedure's.
func TestOtherColumns(t *testing.T) {
	for columns := range 3 {
		zeros := append([]byte{tokenRow}, make([]byte, 4*columns)...)
		answer := tdstest.Answer(metadata(slices.Repeat([][]byte{{0x38}}, columns)...), zeros, tdstest.Done(0)) // ints
		server := tdstest.Start(t, tdstest.Options{Certificate: selfSigned(t, "127.0.0.1", false),
			Encryption: tdstest.EncryptAll, Request: func([]byte) []byte { return answer }})
		conn := connect(t, openURL(t, server.URL("DS2", "encrypt", "true", "trustservercertificate", "true")))
		err := call(t.Context(), conn)
		assert.Equal(t, columns == 1, err == nil, "%d columns: %v", columns, err)
		assert.True(t, conn.whole(), "%d columns", columns)
	}
}

// manyRows are more rows than one may have bytes: none is held against the next. 240 MB in all.
const manyRows = 40_000

// TestManyRows has a pool read them, and scans, as rows of one table: to the end of a pass, and to that of a context.
func TestManyRows(t *testing.T) {
	row := append([]byte{tokenRow, 0x70, 0x17}, make([]byte, 6000)...)
	varchar8000 := []byte{typeVarChar, 0x40, 0x1F, 0, 0, 0, 0, 0}
	answer := tdstest.Answer(metadata(varchar8000), bytes.Repeat(row, manyRows), tdstest.Done(tdstest.DoneFinal))
	s := openURL(t, tdstest.Start(t, tdstest.Options{Request: func([]byte) []byte { return answer }}).URL("DS2"))
	n := 0
	err := store.List(t.Context(), s.DB(), "SELECT X", func(*sql.Rows) error { n++; return nil })
	require.NoError(t, err)
	require.Equal(t, manyRows, n)

	const rowBytes = 8192
	r, err := s.scrub(t.Context(), scrubTable{name: "[dbo].[X]", rowBytes: rowBytes})
	require.NoError(t, err)
	defer r.Close()
	bytes := int64(0)
	for last := false; !last; {
		read, err := r.Read(t.Context())
		require.NoError(t, err, "after %d bytes", bytes)
		bytes, last = bytes+read.Bytes, read.Last
	}
	require.EqualValues(t, manyRows*rowBytes, bytes, "of a pass")

	r, err = s.scrub(t.Context(), scrubTable{name: "[dbo].[X]", rowBytes: rowBytes})
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
