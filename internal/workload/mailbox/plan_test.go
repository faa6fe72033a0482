package mailbox

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
)

// TestRequest: each parameter that no database can serve is refused by its name.
func TestRequest(t *testing.T) {
	for _, c := range []struct {
		name   string // that the refusal begins with; empty: none
		change func(*Request)
	}{
		{"", func(*Request) {}},
		{"", func(r *Request) { r.Lazy, r.PerMailbox, r.Headroom = 100, 0.5, 20 }},
		{"mailbox-profile: ", func(r *Request) { r.Profile = "exchange2003" }},
		{"lazy ", func(r *Request) { r.Lazy = 101 }},
		{"lazy ", func(r *Request) { r.Lazy = -2 }},
		{"iops-per-mailbox ", func(r *Request) { r.PerMailbox = math.NaN() }},
		{"headroom ", func(r *Request) { r.Headroom = 10 }},
	} {
		r := Request{Lazy: -1}
		c.change(&r)
		err := r.Check()
		if (err == nil) != (c.name == "") || err != nil && !strings.HasPrefix(err.Error(), c.name) {
			t.Errorf("%+v: %v, want %q", r, err, c.name)
		}
	}
}

// picky is an engine whose servers have no lazy commits.
type picky struct{ Engine }

func (picky) Check(context.Context, store.Database, Parameters) error {
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
	engines, targets := map[string]Engine{"picky": picky{}}, []store.Database{pickyStore{}}
	_, err := NewPlan(t.Context(), engines, targets, []store.Info{info}, Request{Lazy: -1})
	assert.EqualError(t, err, "lazy is 80: it must be 0")
}

// sized is an engine on which a database has n bytes; one of none does not say.
type sized struct {
	Engine
	bytes int64
}

func (e sized) Bytes(context.Context, store.Database) (int64, error) {
	if e.bytes == 0 {
		return 0, errors.New("the server is down")
	}
	return e.bytes, nil
}

// TestSilentTarget: a target that does not say after a run how large it is has no size, and the others keep theirs.
func TestSilentTarget(t *testing.T) {
	r := &Run{dir: t.TempDir()}
	for _, bytes := range []int64{5, 0, 7} {
		r.targets, r.live = append(r.targets, Target{Engine: sized{bytes: bytes}}), append(r.live, NewLive(1))
	}
	require.NoError(t, r.End())
	assert.Equal(t, "5, unknown, 7", numbersText(r.found.BytesAfter), "sizes")
}
