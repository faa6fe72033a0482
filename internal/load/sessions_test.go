package load_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/load"
	"ds2/internal/localpg/pgtest"
	"ds2/internal/store"
	"ds2/schema"
)

// TestSessions (E11): a server of little memory is not asked for more than it has.
func TestSessions(t *testing.T) {
	for _, c := range []struct {
		why        string
		processors int
		memory     int64
		want       int
	}{
		{"nobody knows the memory", 4, 0, 4},
		{"one processor", 1, 0, 2},
		{"the server that two sessions killed", 2, 500e6, 1},
		{"enough for two", 8, 1200e6, 2},
		{"enough for all", 8, 64e9, 8},
	} {
		assert.Equal(t, c.want, load.Sessions(c.processors, c.memory), c.why)
	}
}

// busiest is the largest number of statements that ran at once.
type busiest struct {
	load.Progress
	mu            sync.Mutex
	running, most int
}

func (b *busiest) Statement(_ schema.Phase, _ string, ended bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ended {
		b.running--
		return
	}
	b.running++
	b.most = max(b.most, b.running)
}

// TestSessionsAreChosen once there is a database that can be asked.
func TestSessionsAreChosen(t *testing.T) {
	s, o := open(t, pgtest.Database(t)), options(t)
	b := &busiest{Progress: &follower{running: map[string]bool{}}}
	o.AtOnce, o.Progress = 0, b
	o.Choose = func(ctx context.Context, e store.Database) int {
		require.NoError(t, e.DB().PingContext(ctx))
		return load.Sessions(8, 500e6)
	}
	mustLoad(t, s, o)
	assert.Equal(t, 1, b.most, "statements ran at once")
}
