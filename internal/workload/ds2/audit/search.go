package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// search has the procedures of the workload look for the title and the actor of the last product, and counts the
// products that they miss: the full-text index holds what it should only where they find all that a comparison finds.
func (a *audit) search(ctx context.Context) error {
	call, ok := a.engines[a.target.Engine()]
	if !ok {
		return fmt.Errorf("ds2 has no calls of DVD Store 2 on %s", a.target.Engine())
	}
	session, err := call(ctx, a.target)
	if err != nil {
		return err
	}
	defer session.Close(ctx)
	for _, s := range []struct {
		column, missed string
		find           func(ctx context.Context, batch int, text []byte) (int, error)
	}{
		{"title", missedTitle, session.BrowseByTitle},
		{"actor", missedActor, session.BrowseByActor},
	} {
		var text string
		var n int
		query := fmt.Sprintf("SELECT p.%s, COUNT(*) FROM products p JOIN products k ON k.%[1]s = p.%[1]s"+
			" WHERE k.prod_id = (SELECT MAX(prod_id) FROM products) GROUP BY p.%[1]s", s.column)
		err := a.target.DB().QueryRowContext(ctx, query).Scan(&text, &n)
		if errors.Is(err, sql.ErrNoRows) {
			continue // no products: other checks say so
		}
		if err != nil {
			return err
		}
		found, err := s.find(ctx, n, []byte(text)) // no more than n
		if err != nil {
			return fmt.Errorf("search for %s %q: %w", s.column, text, err)
		}
		a.answers[s.missed] = int64(n - found)
	}
	return nil
}
