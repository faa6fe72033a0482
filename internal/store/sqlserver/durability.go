package sqlserver

import "context"

// Durability is a database's option DELAYED_DURABILITY: whether commits may return before their log is on the drive.
type Durability string

// The values of the option.
const (
	DurabilityUnknown  Durability = ""         // the server has no such thing
	DurabilityDisabled Durability = "DISABLED" // none does, whatever it asks for
	DurabilityAllowed  Durability = "ALLOWED"  // those that ask for it
	DurabilityForced   Durability = "FORCED"   // all do
)

// DelayedDurability asks for the option of the target's database.
func (s *Store) DelayedDurability(ctx context.Context) (d Durability, err error) {
	v, err := s.ask(ctx)
	if err != nil || v.babelfish {
		return DurabilityUnknown, err
	}
	err = s.db.QueryRowContext(ctx, "SELECT delayed_durability_desc FROM sys.databases WHERE name = DB_NAME()").Scan(&d)
	return d, s.Wrap("ask for the delayed durability of "+s.Label(), err)
}
