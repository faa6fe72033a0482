package load

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/docker/go-units"

	"ds2/internal/store"
	"ds2/schema"
)

// kitColumns are those of the kit's own tables: see workload.Dataset.SignatureColumns.
var kitColumns = map[string]string{"ds2_info": "value", "ds2_steps": "name"}

// anotherDatabase is the hint where a database is not the workload's to drop.
const anotherDatabase = "name another database in the target, such as one that does not exist yet"

// heldTables lists the tables of the workload and of this kit that the database holds, in the
// schema in which a load makes its own. A table that only bears the name of one is an error: it
// stands in the way, and is not the workload's to drop.
func (l *loader) heldTables(ctx context.Context) ([]string, error) {
	signatures := l.options.Dataset.SignatureColumns()
	maps.Copy(signatures, kitColumns)
	query := schema.Note("columns", map[string]any{
		"Tables": slices.Collect(maps.Keys(signatures)), "Schema": l.engine.Schema(),
	})
	columns := map[string][]string{}
	type named struct{ Table, Column string }
	found, err := store.Collect[named](ctx, l.engine.DB(), query)
	if err != nil {
		return nil, l.engine.Wrap("list the tables of the database", err)
	}
	for _, one := range found {
		columns[one.Table] = append(columns[one.Table], one.Column)
	}
	var held []string
	for table, columns := range columns {
		if !slices.Contains(columns, signatures[table]) {
			return nil, store.Refuse("look into database "+l.engine.Name(), anotherDatabase,
				"its table %s is not ds2's: it has no column %s", table, signatures[table])
		}
		held = append(held, table)
	}
	slices.Sort(held)
	return held, nil
}

// mayReplace refuses a database of another workload, which is not this one's to drop, and one that
// holds data of the workload, unless those are to be dropped or their load to be resumed.
func (l *loader) mayReplace(ctx context.Context, held []string) error {
	op := "look into database " + l.engine.Name()
	found := "tables that this kit did not load (" + strings.Join(held, ", ") + ")"
	hint := "use --drop to delete it first, or name another database"
	if info, err := store.ReadInfo(ctx, l.engine.DB()); err == nil && info[store.InfoState] != "" {
		if found, want := info.Workload(), l.options.Dataset.Info().Workload(); found != want {
			return store.Refuse(op, anotherDatabase, "it holds the workload %s, not %s", found, want)
		}
		found = "a dataset of size " + info[store.InfoSize]
		if info.CheckReady() != nil {
			found = "an unfinished load of size " + info[store.InfoSize]
			hint = "--resume finishes it, --drop drops it first; or name another database in the target"
		}
	}
	if l.options.Resume || l.options.Drop {
		return nil
	}
	return store.Refuse(op, hint, "it holds %s", found)
}

// Sizer is an engine that says what room a database and its copy take. Of a database that is half
// restored it may not be known.
type Sizer interface {
	SnapshotRoom(ctx context.Context) (store.SnapshotRoom, error)
}

// growth is the part of a dataset's size that should stay free for what runs add, as Jetstress
// keeps a quarter (mailbox/WORKLOAD.md section 1).
const growth = 0.25

// checkRoom refuses a dataset whose size in bytes was asked for and that is known not to fit on the
// server's drives. That is known of a server on this machine that says where its files are. What
// the database holds already, where it is replaced or continued, counts as free.
func (l *loader) checkRoom(ctx context.Context, held bool) error {
	needs := l.params.Bytes
	engine, ok := l.engine.(Sizer)
	if !ok || needs == 0 {
		return nil
	}
	room, err := engine.SnapshotRoom(ctx)
	free, where, known := room.Free()
	if err != nil || !known {
		return nil // who may not ask loads nevertheless
	}
	if held {
		free += room.Database
	}
	said := fmt.Sprintf("%s take %s, and there is room for %s in %s",
		l.options.Dataset, units.HumanSize(float64(needs)), units.HumanSize(float64(free)), where)
	switch {
	case free < needs:
		op := "look for room on the drives of " + l.engine.Label()
		return store.Resource.Fail(op, "make room there, or load less", "%s", said)
	case float64(free) < float64(needs)*(1+growth):
		l.report.Growth = said + ": less than a quarter of their size is left for what runs add"
	}
	return nil
}
