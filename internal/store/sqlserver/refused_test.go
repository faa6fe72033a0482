package sqlserver_test

import (
	"strings"
	"testing"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver/servertest"
	"ds2/schema"
)

// TestRefusedOnBabelfish: what Babelfish lacks is refused in one sentence, which says what it lacks and which flag to
// leave out, and nothing is changed. Settings are set back where there is nothing to be set back.
func TestRefusedOnBabelfish(t *testing.T) {
	text := servertest.Database(t)
	switch babelfish, err := servertest.IsBabelfish(text); {
	case err != nil:
		t.Fatal(err)
	case !babelfish:
		t.Skip("the server is not Babelfish")
	}
	s := open(t, text)
	can := s.Can()
	ctx := t.Context()
	if restored, err := store.RestoreSettings(ctx, s, ""); err != nil || restored != nil {
		t.Errorf("without a database: set back %q, %v", restored, err)
	}
	if err := s.CreateDatabase(ctx, []schema.Statement{{Name: "create database", SQL: "CREATE DATABASE " + s.Name()}}); err != nil {
		t.Fatal(err)
	}
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
		if err == nil || store.Classify(err) != store.Config || !strings.Contains(err.Error(), "this server") || !strings.Contains(err.Error(), flag) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v of class %s", flag, err, store.Classify(err))
		}
	}
	if restored, err := store.RestoreSettings(ctx, s, ""); err != nil || restored != nil {
		t.Errorf("set back %q, %v", restored, err)
	}
}
