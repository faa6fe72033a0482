package mailbox

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
)

// sized is an engine on which a database has so many bytes; one of none does not say.
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
