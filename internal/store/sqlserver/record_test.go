package sqlserver

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/store/sqlserver/tdstest"
)

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
