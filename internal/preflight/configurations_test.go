package preflight

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ds2/internal/result"
)

// TestAlike: before the first run, configurations that are unlike without being declared are told,
// and two names for one database end the experiment.
func TestAlike(t *testing.T) {
	plan := func(name, size, buffers, database, label string) Planned {
		return Planned{name, result.Setup{
			Spec: result.Spec{Size: size},
			Environment: result.Environment{
				Settings: []result.Said{{Name: "shared_buffers", Value: buffers}},
			},
		}, map[string]string{database: label}}
	}
	a := plan("a", "S", "64MB", "1", "h1/ds2")
	for _, c := range []struct {
		other   Planned
		subject []string
		want    State
		says    string
	}{
		{plan("b", "S", "64MB", "2", "h2/ds2"), nil, "", ""},
		{plan("b", "S", "64MB", "1", "h1/ds2"), nil, "", ""}, // of a factor
		{
			plan("b", "S", "64MB", "1", "other/ds2"), nil, Failure,
			"h1/ds2 of a and other/ds2 of b are one database",
		},
		{
			plan("b", "M", "512MB", "2", "h2/ds2"), nil, Warning,
			"a and b are not alike: size S and M; shared_buffers 64MB and 512MB",
		},
		{
			plan("b", "M", "512MB", "2", "h2/ds2"),
			[]string{"shared-buffers"},
			Warning, "a and b are not alike: size S and M",
		},
		{plan("b", "M", "512MB", "2", "h2/ds2"), []string{"size", "shared_buffers"}, "", ""},
		{
			plan("b", "S", "64MB", "2", "h2/ds2"),
			[]string{"shared_buffers"},
			Warning,
			"shared_buffers is the subject, and all configurations have the same",
		},
	} {
		found := Alike([]Planned{a, c.other}, c.subject)
		if c.says == "" {
			assert.Empty(t, found)
			continue
		}
		if assert.Len(t, found, 1) {
			assert.Equal(t, c.want, found[0].State)
			assert.Equal(t, c.says, found[0].Found)
		}
	}
}
