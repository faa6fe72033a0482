package mailbox

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
)

// TestRequest: each parameter that no database can serve is refused by its name.
func TestRequest(t *testing.T) {
	assert.NoError(t, Request{Lazy: -1}.CheckRequest())
	assert.NoError(t, Request{Lazy: 100, PerMailbox: 0.5, Headroom: 20}.CheckRequest())
	for _, c := range []struct {
		name    string // that the refusal begins with
		request Request
	}{
		{"mailbox-profile: ", Request{Lazy: -1, Profile: "exchange2003"}},
		{"lazy ", Request{Lazy: 101}},
		{"lazy ", Request{Lazy: -2}},
		{"iops-per-mailbox ", Request{Lazy: -1, PerMailbox: math.NaN()}},
		{"headroom ", Request{Lazy: -1, Headroom: 10}},
	} {
		assert.Regexp(t, "^"+c.name, c.request.CheckRequest(), "%+v", c.request)
	}
}

// picky is an engine whose servers have no lazy commits.
type picky struct{ Engine }

func (picky) CheckParameters(context.Context, store.Database, Parameters) error {
	return errors.New("lazy is 80: it must be 0")
}

// pickyStore is a database of it.
type pickyStore struct{ store.Database }

func (pickyStore) Engine() string { return "picky" }

// TestPlanNamesParameter: what an engine refuses is said of the parameter that it names.
func TestPlanNamesParameter(t *testing.T) {
	d := Dataset{Size: Size{Mailboxes: 20, MailboxBytes: 1 << 20}, Profile: "exchange2007"}
	info := d.Info()
	info[store.InfoState] = store.StateReady
	engines := map[string]Engine{"picky": picky{}}
	targets := []store.Database{pickyStore{}}
	_, err := NewPlan(t.Context(), engines, targets, []store.Info{info}, Request{Lazy: -1})
	assert.EqualError(t, err, "lazy is 80: it must be 0")
}

// sized is an engine on which a database has n bytes; one of none does not say.
type sized struct {
	Engine
	bytes int64
}

func (e sized) TableBytes(context.Context, store.Database) (int64, error) {
	if e.bytes == 0 {
		return 0, errors.New("the server is down")
	}
	return e.bytes, nil
}

// TestSilentTarget: a target that does not say after a run how large it is has no size, and the
// others keep theirs.
func TestSilentTarget(t *testing.T) {
	r := &Run{dir: t.TempDir()}
	for _, bytes := range []int64{5, 0, 7} {
		r.targets, r.live = append(r.targets, Target{Engine: sized{bytes: bytes}}), append(
			r.live,
			NewLive(1),
		)
	}
	require.NoError(t, r.End())
	sections, err := run{stateRecord: r.found}.makeSections()
	require.NoError(t, err)
	sizes := []string{"final database size in bytes", "5, unknown, 7"}
	assert.Contains(t, sections[0].Rows, sizes)
}
