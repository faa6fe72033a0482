package postgres

import (
	"context"
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
	ask := query("server/blockers")
	rows, _ := conn.Query(ctx, ask, s.ownProcesses(), since, s.Name()) // ForEachRow gives its error
	waits := map[string]string{}
	var name, says string
	_, err = pgx.ForEachRow(rows, []any{&name, &says}, func() error {
		waits[name] = says
		return nil
	})
	return waits, s.Wrap("ask for wait events", err)
}
