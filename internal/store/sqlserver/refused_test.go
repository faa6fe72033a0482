package sqlserver_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver/servertest"
	"ds2/schema"
)

// TestRefusedOnBabelfish: what Babelfish lacks is refused in one sentence, which says what it lacks and which flag to
// leave out, and nothing is changed. Settings are set back where there is nothing to be set back.
func TestRefusedOnBabelfish(t *testing.T) {
	text := servertest.Database(t)
	babelfish, err := servertest.IsBabelfish(text)
	require.NoError(t, err)
	if !babelfish {
		t.Skip("the server is not Babelfish")
	}
	s := open(t, text)
	can := s.Can()
	ctx := t.Context()
	settingsStay := func() {
		restored, err := store.RestoreSettings(ctx, s, "")
		assert.NoError(t, err)
		assert.Empty(t, restored)
	}
	settingsStay() // without a database
	create := []schema.Statement{{Name: "create database", SQL: "CREATE DATABASE " + s.Name()}}
	require.NoError(t, s.CreateDatabase(ctx, create))
	for flag, f := range map[string]func() error{
		"--copies":      func() error { _, err := can.OpenLog(ctx); return err },
		"--debt":        func() error { return can.Deferred.CheckDeferred(ctx) },
		"--replay":      func() error { return can.Replay.CheckReplay(ctx, 100e6, "") },
		"--deep":        func() error { _, err := can.DeepCheck(ctx, store.DeepReading{}, nil); return err },
		"--verify deep": func() error { return can.MayDeepCheck(ctx) },
		"--cold-start":  func() error { return can.MayDropCache(ctx) },
		"--io-events":   func() error { return can.MayTimeIO(ctx) },
		"--discard-log": func() error { return s.DiscardLog(ctx) },
		"postgres://":   func() error { _, err := can.Backup.ReadBackup(ctx, nil); return err },
	} {
		err := f()
		assert.Equal(t, store.Config, store.Classify(err), flag)
		assert.ErrorContains(t, err, "this server", flag)
		assert.ErrorContains(t, err, flag)
		assert.NotContains(t, err.Error(), "\n", flag)
	}
	settingsStay()
}
