package sqlserver_test

import (
	"net/url"
	"testing"

	"ds2/internal/store"
	storesqlserver "ds2/internal/store/sqlserver"
	"ds2/internal/store/sqlserver/servertest"
	"ds2/internal/workload/mailbox/mailboxtest"
	"ds2/internal/workload/mailbox/sqlserver"
)

func TestConformance(t *testing.T) {
	babelfish, err := servertest.IsBabelfish(servertest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	mailboxtest.Run(t, mailboxtest.Engine{Calls: sqlserver.Engine{}, Lazy: !babelfish, Open: func(t *testing.T) store.Store {
		u, err := url.Parse(servertest.Database(t))
		if err != nil {
			t.Fatal(err)
		}
		s, err := storesqlserver.Open(u)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		s.(*storesqlserver.Store).UseWire()
		return s
	}})
}
