package sqlserver

import (
	"encoding/binary"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"ds2/internal/store/sqlserver/tdstest"
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

// TestOptionsSetBack: a restore sets each option that it changed back, and warns of what it may not set, or does not; it leaves alone what
// only one of the two answers has.
func TestOptionsSetBack(t *testing.T) {
	var mu sync.Mutex
	var sent []string
	server := tdstest.Start(t, tdstest.Options{Encryption: tdstest.EncryptNothing, Request: func(payload []byte) []byte {
		units := make([]uint16, len(payload)/2)
		for i := range units {
			units[i] = binary.LittleEndian.Uint16(payload[2*i:])
		}
		text := string(utf16.Decode(units))
		mu.Lock()
		defer mu.Unlock()
		if i := strings.Index(text, "ALTER"); i >= 0 {
			sent = append(sent, text[i:])
		}
		if strings.Contains(text, "TRUSTWORTHY") {
			return tdstest.Answer(tdstest.Error(15247, 1, 16, "User does not have permission to perform this action."), tdstest.Done(tdstest.DoneError))
		}
		return tdstest.Answer(tdstest.Done(0))
	}})
	opened, err := Open(server.URL("it's]here"))
	require.NoError(t, err)
	defer opened.Close()
	s := opened.(*Store)
	before := map[string]string{
		"owner": "ds2 user", "compatibility_level": "150", "recovery_model_desc": "SIMPLE", "is_query_store_on": "false", "is_parameterization_forced": "true",
		"is_read_committed_snapshot_on": "true", "target_recovery_time_in_seconds": "0", "is_trustworthy_on": "true", "is_encrypted": "true", "is_auto_shrink_on": "false",
	}
	after := map[string]string{
		"owner": "sa", "compatibility_level": "160", "recovery_model_desc": "FULL", "is_query_store_on": "false", "is_parameterization_forced": "false",
		"is_read_committed_snapshot_on": "false", "target_recovery_time_in_seconds": "60", "is_trustworthy_on": "false", "is_encrypted": "false", "containment_desc": "NONE",
	}
	var warned []string
	s.setBack(t.Context(), s.db, before, after, func(text string) { warned = append(warned, text) })
	want := []string{
		"ALTER AUTHORIZATION ON DATABASE::[it's]]here] TO [ds2 user]",
		"ALTER DATABASE [it's]]here] SET COMPATIBILITY_LEVEL = 150",
		"ALTER DATABASE [it's]]here] SET RECOVERY SIMPLE",
		"ALTER DATABASE [it's]]here] SET TARGET_RECOVERY_TIME = 0 SECONDS",
		"ALTER DATABASE [it's]]here] SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE",
		"ALTER DATABASE [it's]]here] SET PARAMETERIZATION FORCED",
		"ALTER DATABASE [it's]]here] SET TRUSTWORTHY ON",
	}
	require.Equal(t, want, sent)
	if len(warned) != 2 || !strings.Contains(warned[0], "is_trustworthy_on was true and is false") || !strings.Contains(warned[0], "permission") ||
		!strings.Contains(warned[1], "is_encrypted was true") {
		t.Errorf("warned: %q", warned)
	}
	sent = nil
	s.setBack(t.Context(), s.db, nil, after, func(text string) { t.Error(text) })
	require.Empty(t, sent, "of a database that was not open nothing is known")
}
