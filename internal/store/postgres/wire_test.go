package postgres

import (
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/internal/store/postgres/target"
)

func TestPlanOnce(t *testing.T) {
	for _, test := range []struct{ name, parameter, want string }{
		{"by itself", "", "force_generic_plan"},
		{"set by the user", "force_custom_plan", "force_custom_plan"},
	} {
		t.Run(test.name, func(t *testing.T) {
			u, err := url.Parse(pgtest.Database(t))
			require.NoError(t, err)
			if test.parameter != "" {
				query := u.Query()
				query.Set("plan_cache_mode", test.parameter)
				u.RawQuery = query.Encode()
			}
			s, err := Open(u)
			require.NoError(t, err)
			defer s.Close()
			show := Statement{"show", "SELECT current_setting('plan_cache_mode')"}
			c, err := s.(*Store).ConnectUser(t.Context(), show)
			require.NoError(t, err)
			defer c.Close(t.Context())
			c.Call(&show)
			require.NoError(t, c.Each(t.Context(), false, func(row [][]byte) bool {
				require.Equal(t, test.want, string(row[0]))
				return true
			}))
		})
	}
}

func TestClassify(t *testing.T) {
	for code, want := range map[string]store.Class{
		"40P01": store.Deadlock,
		"40001": store.Serialization,
		"55P03": store.Timeout,
		"57014": store.Timeout,
		"25006": store.Connection, // the server became a standby: another may be the primary by now
		"40003": store.Connection, // nobody knows whether it was committed
		"57P01": store.Connection, // pg_terminate_backend, shutdown
		"57P03": store.Connection, // starting up
		"08006": store.Connection,
		"53100": store.Resource, // disk full
		"53300": store.Resource, // too many connections
		"53400": store.Resource, // of the class, not named
		"28P01": store.Config,   // wrong password
		"3D000": store.Config,   // no database
		"42P01": store.Config,   // no table
		"42883": store.Config,   // no function
		"23505": store.Bug,      // unique violation
		"XX000": store.Bug,
		"":      store.Bug,
	} {
		if got, _ := classify(code); got != want {
			t.Errorf("%s: class %s, want %s", code, got, want)
		}
	}
}

// TestLost: what ends a connection may be damage, what only ends a statement is not.
func TestLost(t *testing.T) {
	for code, want := range map[string]bool{
		"57P02": true, // another process broke down
		"08006": true,
		"57014": false, // somebody cancelled the statement
		"XX001": false, // damage, as the server says it
	} {
		if got := target.Lost(&pgconn.PgError{Code: code}); got != want {
			t.Errorf("%s: %v, want %v", code, got, want)
		}
	}
}
