package sqlserver

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver/tdstest"
)

// ghostly is a server that answers one question after the other for the deleted rows that still lie in the pages of all
// tables, and what it was asked.
func ghostly(t *testing.T, answers ...[]byte) (s *Store, asked *[]string) {
	asked = new([]string)
	server := tdstest.Start(t, tdstest.Options{Request: func(payload []byte) []byte {
		text := tdstest.Text(payload)
		switch {
		case strings.Contains(text, askWhat):
			return sqlServer2022
		case strings.Contains(text, "CHECKPOINT"):
			*asked = append(*asked, "checkpoint")
		case strings.Contains(text, "sys.dm_db_index_physical_stats(DB_ID(), NULL, NULL, NULL,"):
			answer := answers[0]
			*asked, answers = append(*asked, "ghosts"), answers[1:]
			return answer
		}
		return tdstest.Done(tdstest.DoneFinal)
	}})
	return openURL(t, server.URL("DS2")), asked
}

// TestGhostsAreCounted: deferred work is done when the server counts no deleted rows in any table, and a reset ends
// then, or where its user may not ask. An answer that is none ends both.
func TestGhostsAreCounted(t *testing.T) {
	broken := tdstest.Failed(
		tdstest.Error(8115, 2, 16, "Arithmetic overflow error converting expression to data type int."))
	for _, c := range []struct {
		name    string
		answers [][]byte
		work    store.Deferred
		asked   string
		fails   bool
	}{
		{"rows that are removed", [][]byte{cells("7000000000"), cells("0")}, store.Deferred{Before: 7e9},
			"ghosts, checkpoint, ghosts, checkpoint", false},
		{"none", [][]byte{cells("0")}, store.Deferred{}, "ghosts, checkpoint", false},
		{"no count", [][]byte{broken}, store.Deferred{}, "ghosts", true},
		{"no count later", [][]byte{cells("7"), broken}, store.Deferred{Before: 7, After: 7},
			"ghosts, checkpoint, ghosts", true},
	} {
		s, asked := ghostly(t, c.answers...)
		done, err := s.Can().Deferred.DoDeferred(t.Context(), func(string) {})
		require.Equal(t, c.fails, err != nil, "%s: %v", c.name, err)
		require.Equal(t, c.work, done, c.name)
		require.Equal(t, c.asked, strings.Join(*asked, ", "), c.name)
	}
	for name, c := range map[string]struct {
		answer []byte
		fails  bool
	}{"none": {cells("0"), false}, "who may not ask": {denied, false}, "no count": {broken, true}} {
		s, asked := ghostly(t, c.answer)
		err := s.awaitGhostCleanup(t.Context())
		require.Equal(t, c.fails, err != nil, "%s: %v", name, err)
		require.Equal(t, []string{"ghosts"}, *asked, name)
	}
}
