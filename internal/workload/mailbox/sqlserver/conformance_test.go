package sqlserver_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	storesqlserver "ds2/internal/store/sqlserver"
	"ds2/internal/store/sqlserver/servertest"
	"ds2/internal/workload/mailbox/mailboxtest"
	"ds2/internal/workload/mailbox/sqlserver"
)

func TestConformance(t *testing.T) {
	babelfish, err := servertest.IsBabelfish(servertest.Database(t))
	require.NoError(t, err)
	open := func(t *testing.T) store.Database {
		u, err := url.Parse(servertest.Database(t))
		require.NoError(t, err)
		s, err := storesqlserver.Open(u)
		require.NoError(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	mailboxtest.Run(t, mailboxtest.Engine{Calls: sqlserver.Engine{}, Lazy: !babelfish, Open: open, Allocs: 200})
}
