package sqlserver

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store/sqlserver/tdstest"
)

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
		assert.True(t, conn.conn.IsValid(), "%d columns", columns)
	}
}

// manyRows are more than a connection buffers.
const manyRows = 4_000

// TestManyRows has scans read them, as rows of one table: to the end of a pass, and to that of a context.
func TestManyRows(t *testing.T) {
	row := append([]byte{tokenRow, 0x70, 0x17}, make([]byte, 6000)...)
	varchar8000 := []byte{typeVarChar, 0x40, 0x1F, 0, 0, 0, 0, 0}
	answer := tdstest.Answer(metadata(varchar8000), bytes.Repeat(row, manyRows), tdstest.Done(tdstest.DoneFinal))
	s := openURL(t, tdstest.Start(t, tdstest.Options{Request: func([]byte) []byte { return answer }}).URL("DS2"))
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
