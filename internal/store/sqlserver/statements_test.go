package sqlserver

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/tdstest"
	"ds2/schema"
)

// TestEachStatementIsSent calls what the engine can do on servers of several editions, whose
// answers lead on to the next statement or are empty, so that .ci/tsql gets each text.
func TestEachStatementIsSent(t *testing.T) {
	for _, server := range [][]byte{
		sqlServer2022,
		cells("2", "13", "0", "1", `D:\it's data`, `E:\log`, "0"),
		cells("5", "12", "0", "1", "", "", "0"),
		cells("8", "16", "0", "1", "", "", "0"),
	} {
		for _, other := range [][]byte{tdstest.Done(tdstest.DoneFinal), cells("1")} {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				sendAll(t, answeringAll(t, server, other))
			})
		}
	}
}

// sendAll calls all that an engine can do.
func sendAll(t *testing.T, s *Store) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel() // an answer may lead to a wait
	how := store.Copying{Tell: progress.Ignore, Warn: func(string) {}}
	_, _ = s.Examine(ctx, 1)
	_, _, _ = s.Advise(ctx, 0, 0)
	_, _ = s.IOFaults(ctx)
	_, _ = s.errorLines(ctx, time.Unix(0, 0))
	_, _ = s.DeepCheck(ctx, progress.Ignore)
	_, _ = s.Progress(ctx)
	_, _, _, _ = s.LogSpace(ctx)
	_, _ = s.DelayedDurability(ctx)
	_, _ = s.OpenScrub(ctx)
	_, _ = s.TableBytes(ctx, "orders")
	_, _ = s.TableRows(ctx, "orders")
	_, _ = s.Placement(ctx)
	_, _ = s.SnapshotRoom(ctx)
	_ = s.MayDeepCheck(ctx)
	_ = s.MayDropCache(ctx)
	_ = s.MayCheckpoint(ctx)
	_ = s.DiscardLog(ctx)
	_ = s.Checkpoint(ctx)
	_ = s.DropCache(ctx)
	_ = s.CreateSnapshot(ctx, how)
	_ = s.RestoreSnapshot(ctx, how)
	_, _ = s.hasLogin(ctx, server2022, "it's a login")
	if unlock, err := s.Lock(ctx, store.Lock{Lost: func(error) {}}); err == nil {
		unlock()
	}
	p := schema.Params{Layout: schema.Layout{Login: "driver", Password: "secret"}}
	_, _ = s.Adapt(ctx, &p)
	values := map[string]string{
		"compatibility_level": "160", "recovery_model_desc": "FULL", "owner": "sa",
		"page_verify_option_desc": "CHECKSUM", "delayed_durability_desc": "ALLOWED",
		"target_recovery_time_in_seconds": "60", "containment_desc": "NONE",
	}
	before := map[string]string{}
	after := map[string]string{}
	for _, o := range databaseOptions {
		before[o[0]] = cmp.Or(values[o[0]], "true")
		after[o[0]] = "other"
	}
	s.setBack(ctx, s.db, before, after, how.Warn)
	_ = s.awaitGhostCleanup(ctx)
}

var server2022 = server{edition: 3, major: 16}

// answeringAll is a server that says what it is, and answers all else with the same.
func answeringAll(t *testing.T, what, other []byte) *Store {
	server := tdstest.Start(t, tdstest.Options{Request: func(payload []byte) []byte {
		if strings.Contains(tdstest.Text(payload), askWhat) {
			return what
		}
		return other
	}})
	return openURL(t, server.URL("DS2"))
}

// recorded are statements by their parameters.
func recorded(t *testing.T, dir string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	require.NoError(t, err)
	texts := map[string]string{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		parameters, text, _ := strings.Cut(string(content), "\n")
		parameters = strings.TrimPrefix(parameters, "-- parameters: ")
		texts[parameters] = strings.TrimSpace(text)
	}
	return texts
}

// TestRecorded: the stand-in server writes down a statement with its parameters.
func TestRecorded(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DS2_TSQL_TEXTS", dir)
	s := answeringAll(t, sqlServer2022, cells("1"))
	_, err := s.hasLogin(t.Context(), server2022, "a login")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{
		"@p1 nvarchar(7)": query("server/login"),
	}, recorded(t, dir))
}
