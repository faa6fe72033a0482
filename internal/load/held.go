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

// held lists the tables of the workload and of this kit that the database holds, in the schema in which a load makes its own. A table that only bears the name of one is an
// error: it stands in the way, and is not the workload's to drop.
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

// sameWorkload refuses a database of another workload, which is not this one's to drop.
func (l *loader) sameWorkload(ctx context.Context) error {
	info, err := store.ReadInfo(ctx, l.engine.DB())
	if err != nil || info[store.InfoState] == "" {
		return nil // tables that this kit did not load
	}
	found, want := info.Workload(), l.options.Dataset.Info().Workload()
	if found == want {
		return nil
	}
	return store.Refuse("look into database "+l.engine.Name(),
		"name another database in the target, such as one that does not exist yet",
		"it holds the workload %s, not %s", found, want)
}

// refuse is the error for a database that holds data of the workload.
func (l *loader) refuse(ctx context.Context, held []string) error {
	found := "tables that this kit did not load (" + strings.Join(held, ", ") + ")"
	hint := "--drop drops them first; or name another database in the target"
	if info, err := store.ReadInfo(ctx, l.engine.DB()); err == nil && info[store.InfoState] != "" {
		found = "a dataset of size " + info[store.InfoSize]
		if info.CheckReady() != nil {
			found = "an unfinished load of size " + info[store.InfoSize]
			hint = "--resume finishes it, --drop drops it first; or name another database in the target"
		}
	}
	return store.Refuse("look into database "+l.engine.Name(), hint, "%s", "it holds "+found)
}
