package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A record is read by every later version of ds2: a summary.json in an older schema is lifted to
// the next one, and so on up to Schema, before it is decoded. Nothing else asks for the version of
// a record. What an older ds2 did not write stays absent, which is unknown.

// OldestSchema is the first that is still read.
const OldestSchema = 3

// lifts[n] changes a summary.json of schema n, of any kind, into one of schema n+1. One that only
// gained keys has nothing to change.
var lifts = map[int]func(summary map[string]any){
	3: findWarnings,
}

// advice is what sentences of schema 3 say to do, as it is said now: a flag is gone.
var advice = strings.NewReplacer("ds2 device --data database", "ds2 device",
	"take a longer run or a shorter time", "make the run longer, or lower checkpoint_timeout")

// findWarnings makes findings of what schema 3 had as sentences.
func findWarnings(summary map[string]any) {
	found := func(of map[string]any, key string, kind FindingKind) (all []any) {
		texts, _ := of[key].([]any)
		for _, text := range texts {
			detail, _ := text.(string)
			all = append(all, NewFinding(kind, advice.Replace(detail)))
		}
		delete(of, key)
		return all
	}
	summary["noticed"] = found(summary, "warnings", Distorted)
	cautions, _ := summary["cautions"].(map[string]any)
	summary["cautions"] = append(
		found(cautions, "reads", MemoryHoldsIt), found(cautions, "other", Distorted)...)
	bottleneck, _ := summary["bottleneck"].(map[string]any)
	summary["shown"] = append(
		found(summary, "away", Away), found(bottleneck, "warnings", Distorted)...)
	runs, _ := summary["runs"].([]any)
	for _, one := range runs {
		if run, ok := one.(map[string]any); ok { // of a bench
			unsteady, _ := run["unsteady"].(string)
			if unsteady != "" {
				run["unsteady"] = []any{unsteady}
			}
			run["findings"] = slices.Concat(found(run, "faults", RunFailed),
				found(run, "unsteady", Unsteady), found(run, "warnings", Distorted))
		}
	}
}

// NewerError refuses a record that a later version of ds2 wrote.
type NewerError struct {
	Dir     string
	Schema  int
	Version string // of the ds2 that wrote it
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("read record: ds2 %s wrote %s in schema %d, and this ds2 reads schemas "+
		"%d to %d: use the ds2 that wrote it, or a later one", e.Version, e.Dir, e.Schema,
		OldestSchema, Schema)
}

// lift brings the text of a summary.json from its schema to this one.
func lift(text []byte, from int) ([]byte, error) {
	if from == Schema {
		return text, nil
	}
	summary := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // a seed has more digits than a float64 keeps
	if err := decoder.Decode(&summary); err != nil {
		return nil, err
	}
	for schema := from; schema < Schema; schema++ {
		lifts[schema](summary)
	}
	summary["schema"] = Schema
	return json.Marshal(summary)
}
