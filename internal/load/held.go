package load

import (
	"context"
	"maps"
	"slices"
	"strings"

	"ds2/internal/store"
)

// kitColumns are those of the kit's own tables: see workload.Dataset.SignatureColumns.
var kitColumns = map[string]string{"ds2_info": "value", "ds2_steps": "name"}

// held lists the tables of the workload and of this kit that the database holds, in the schema in which a load makes
// its own. A table that only bears the name of one is an error: it stands in the way, and is not the workload's to
// drop.
func (l *loader) held(ctx context.Context) ([]string, error) {
	const op = "list the tables of the database"
	signatures := l.options.Dataset.SignatureColumns()
	maps.Copy(signatures, kitColumns)
	columns, err := store.TableColumns(ctx, l.engine.DB(), l.engine.Schema(), maps.Keys(signatures))
	if err != nil {
		return nil, l.engine.Wrap(op, err)
	}
	var held []string
	for table, columns := range columns {
		if !slices.Contains(columns, signatures[table]) {
			return nil, store.Refuse("look into database "+l.engine.Name(),
				"name another database in the target, such as one that does not exist yet",
				"its table %s is another's: it has no column %s", table, signatures[table])
		}
		held = append(held, table)
	}
	slices.Sort(held)
	return held, nil
}

// mayReplace refuses a database of another workload, which is not this one's to drop, and one that holds data of the
// workload, unless those are to be dropped or their load to be resumed.
func (l *loader) mayReplace(ctx context.Context, held []string) error {
	op := "look into database " + l.engine.Name()
	found := "tables that this kit did not load (" + strings.Join(held, ", ") + ")"
	hint := "--drop drops them first; or name another database in the target"
	if info, err := store.ReadInfo(ctx, l.engine.DB()); err == nil && info[store.InfoState] != "" {
		if found, want := info.Workload(), l.options.Dataset.Info().Workload(); found != want {
			return store.Refuse(op, "name another database in the target, such as one that does not exist yet",
				"it holds the workload %s, not %s", found, want)
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
	return store.Refuse(op, hint, "%s", "it holds "+found)
}
