package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// ownProcesses are the server's processes that serve, or have served, this one.
func (s *Store) ownProcesses() []int32 {
	own := []int32{}
	s.sessions.Range(func(pid, _ any) bool { own = append(own, pid.(int32)); return true })
	return own
}

// Waits asks what keeps statements of this process waiting: locks that others hold, and standbys.
// It connects to another database, as some of the statements need this one without sessions.
func (s *Store) Waits(ctx context.Context, since time.Duration) (map[string]string, error) {
	conn, err := s.connectMaintenance(ctx, cancelStatement)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, _ := conn.Query(
		ctx,
		query("server/blockers"),
		s.ownProcesses(),
		since,
		s.Name(),
	)
	waits := map[string]string{}
	var pid int32
	var user, name, state, gid, owner, standbys string
	var held, prepared int64
	into := []any{&pid, &user, &name, &state, &held, &gid, &owner, &prepared, &standbys}
	_, err = pgx.ForEachRow(rows, into, func() error { // gives the error of Query, too
		switch {
		case pid < 0:
			waits["standby"] = fmt.Sprintf(
				"commits wait for a synchronous standby: synchronous_standby_names is %q",
				standbys,
			)
		case pid == 0:
			waits["prepared "+gid] = fmt.Sprintf(
				"a lock may be held by the prepared transaction %q of %s, %d s old: "+
					"commit it by COMMIT PREPARED, or ROLLBACK PREPARED",
				gid,
				owner,
				prepared,
			)
		default:
			waits[fmt.Sprint(pid)] = fmt.Sprintf(
				"process %d holds a lock: %s of user %s, %s for %d s; "+
					"it ends by itself, or by SELECT pg_terminate_backend(%d)",
				pid,
				name,
				user,
				state,
				held,
				pid,
			)
		}
		return nil
	})
	return waits, s.Wrap("ask for wait events", err)
}
