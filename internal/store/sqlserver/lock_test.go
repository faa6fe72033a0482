package sqlserver

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	"ds2/internal/tdstest"
)

// TestWhereLocksAre: application locks are those of a database, so that all logins of the target's
// own database take theirs there; who may enter master holds one there, too, and goes without the
// other where the database is not there.
func TestWhereLocksAre(t *testing.T) {
	missing := tdstest.Refuse(
		tdstest.Error(4060, 1, 11, "Cannot open database requested by the login."),
		tdstest.LoginFailed,
	)
	for _, c := range []struct {
		why      string
		closed   string // which the login may not enter
		taken    byte   // what sp_getapplock gives
		want     []string
		isLocked bool
	}{
		{"an administrator", "", 0, []string{"master", "DS2"}, false},
		{"a user of the database", "master", 0, []string{"DS2"}, false},
		{"a load before it exists", "DS2", 0, []string{"master"}, false},
		{"an administrator beside a user", "", 0xff, []string{"master"}, true},
		{"a user beside an administrator", "master", 0xff, []string{"DS2"}, true},
	} {
		var mu sync.Mutex
		var entered []string
		server := tdstest.Start(t, tdstest.Options{
			Decide: func(l tdstest.Login) tdstest.Decision {
				mu.Lock()
				defer mu.Unlock()
				if l.Database == c.closed {
					return missing
				}
				if !slices.Contains(entered, l.Database) {
					entered = append(entered, l.Database)
				}
				return tdstest.Decision{}
			},
			Request: func(payload []byte) []byte {
				if strings.Contains(tdstest.Text(payload), "sp_getapplock") {
					row := []byte{tokenRow, 4, c.taken, c.taken, c.taken, c.taken}
					return idAnswer(nil, row, tdstest.Done(tdstest.DoneFinal))
				}
				return tdstest.Done(tdstest.DoneFinal)
			},
		})
		s := openURL(t, server.URL("DS2"))
		unlock, err := s.Lock(t.Context(), store.Lock{Lost: func(error) {}})
		mu.Lock()
		assert.Equal(t, c.want, entered, c.why)
		mu.Unlock()
		if c.isLocked {
			var locked *store.LockedError
			assert.ErrorAs(t, err, &locked, c.why)
			continue
		}
		require.NoError(t, err, c.why)
		unlock()
	}
}
