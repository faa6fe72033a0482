package sqlserver

import (
	"testing"
	"time"
)

func TestNewestBackup(t *testing.T) {
	early, late := time.Unix(100, 0), time.Unix(200, 0)
	for _, c := range []struct {
		why           string
		first, second time.Time // when they were finished
		current, next string
	}{
		{"there is none", time.Time{}, time.Time{}, "", "a"},
		{"the first one", early, time.Time{}, "a", "b"},
		{"the second is newer", early, late, "b", "a"},
		{"the first was written again", late, early, "a", "b"},
		{"the first was cut off when it was written again", time.Time{}, early, "b", "a"},
	} {
		current, next := newest([2]backup{{"a", c.first}, {"b", c.second}})
		if current.finished.IsZero() {
			current.file = ""
		}
		if current.file != c.current || next != c.next {
			t.Errorf("%s: restore %q and write %q, want %q and %q", c.why, current.file, next, c.current, c.next)
		}
	}
}

// TestChangedOptions: what a restore changes is told, and nothing of what only one of the two answers has.
func TestChangedOptions(t *testing.T) {
	before := map[string]string{"recovery_model_desc": "SIMPLE", "is_query_store_on": "false", "owner": "ds2user"}
	after := map[string]string{"recovery_model_desc": "FULL", "is_query_store_on": "false", "compatibility_level": "160"}
	if got := changedOptions(before, after); len(got) != 1 || got[0] != "recovery_model_desc was SIMPLE and is FULL" {
		t.Errorf("changed: %q", got)
	}
	if got := changedOptions(nil, after); got != nil {
		t.Errorf("changed in a database that was not open: %q", got)
	}
}
