package sqlserver_test

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"ds2/internal/store"
)

// TestDeadlock has each of two transactions ask for the row that the other holds: one is the victim, the other goes on.
func TestDeadlock(t *testing.T) {
	s := created(t, `CREATE TABLE stock (id int PRIMARY KEY, n int);
		INSERT INTO stock VALUES (1, 0), (2, 0)`)
	const update = "UPDATE stock SET n = n + 1 WHERE id = @p1"
	var both [2]*sql.Tx
	for i := range both {
		var err error
		both[i], err = s.DB().BeginTx(t.Context(), nil)
		require.NoError(t, err)
		defer both[i].Rollback()
		_, err = both[i].ExecContext(t.Context(), update, 1+i)
		require.NoError(t, err)
	}
	failures := make(chan error)
	for i, tx := range both {
		go func() {
			_, err := tx.ExecContext(t.Context(), update, 2-i)
			if err != nil {
				tx.Rollback() // lets the other go on
			}
			failures <- s.Wrap("purchase", err)
		}()
	}
	victim, other := <-failures, <-failures
	if victim == nil {
		victim, other = other, victim
	}
	e, ok := victim.(*store.Error)
	if other != nil || !ok || e.Class != store.Deadlock || e.Code != "1205" {
		t.Errorf("one got %v (%s), the other %v", victim, store.Classify(victim), other)
	}
}
