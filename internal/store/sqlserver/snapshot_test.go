package sqlserver

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/progress"
	"ds2/internal/store"
	"ds2/internal/tdstest"
)

func TestNewestBackup(t *testing.T) {
	early := time.Unix(100, 0)
	late := time.Unix(200, 0)
	none := time.Time{}
	for _, c := range []struct {
		why           string
		finished      [2]time.Time
		current, next int
	}{
		{"there is none", [2]time.Time{none, none}, 0, 0},
		{"the first one", [2]time.Time{early, none}, 0, 1},
		{"the second is newer", [2]time.Time{early, late}, 1, 0},
		{"the first was written again", [2]time.Time{late, early}, 0, 1},
		{"the first was cut off when it was written again", [2]time.Time{none, early}, 1, 0},
	} {
		current, next := findNewest([2]backup{{finished: c.finished[0]}, {finished: c.finished[1]}})
		assert.Equal(
			t,
			[2]int{c.current, c.next},
			[2]int{current, next},
			"%s: the one to restore and to write",
			c.why,
		)
	}
}

// TestBackups: the time of a backup is read by its name among other columns; a file that is not
// there, or was cut off, has none.
func TestBackups(t *testing.T) {
	date := []byte{0, 0xB3, 0, 0, 0, 0, 0, 0} // days since 1900, and parts of the day
	for _, c := range []struct {
		why      string
		finished []byte // the length of the value, and the value
		want     bool
	}{{"whole", append([]byte{8}, date...), true}, {"cut off", []byte{0}, false}} {
		server := tdstest.Start(t, tdstest.Options{Request: func(request []byte) []byte {
			if strings.Contains(tdstest.Text(request), "snapshot_2_of_") {
				return tdstest.Failed(tdstest.Error(3201, 1, 16, "Cannot open backup device."))
			}
			columns := slices.Concat(
				[]byte{
					tokenColumns,
					2,
					0,
					0,
					0,
					0,
					0,
					0,
					0,
					typeIntN,
					4,
					8,
				},
				tdstest.UCS2("Position"),
				[]byte{0, 0, 0, 0, 1, 0, 0x6F, 8, 16},
				tdstest.UCS2("BackupFinishDate"),
			)
			row := append([]byte{tokenRow, 4, 1, 0, 0, 0}, c.finished...)
			return tdstest.Answer(columns, row, tdstest.Done(tdstest.DoneFinal))
		}})
		s := openURL(t, server.URL("DS2"))
		found, err := s.readBackups(t.Context(), s.db)
		assert.Error(t, err, c.why)
		assert.Equal(
			t,
			[]bool{!c.want, true},
			[]bool{found[0].finished.IsZero(), found[1].finished.IsZero()},
			c.why,
		)
		assert.True(
			t,
			!c.want || found[0].finished.Year() == 1900+45824/365,
			"finished in %d",
			found[0].finished.Year(),
		)
	}
}

// TestOptionsSetBack: a restore sets each option that it changed back, and warns of what it may not
// set, or does not; it leaves alone what only one of the two answers has.
func TestOptionsSetBack(t *testing.T) {
	var mu sync.Mutex
	var sent []string
	denied := tdstest.Failed(
		tdstest.Error(15247, 1, 16, "User does not have permission to perform this action."),
	)
	server := tdstest.Start(t, tdstest.Options{Request: func(payload []byte) []byte {
		text := tdstest.Text(payload)
		mu.Lock()
		defer mu.Unlock()
		if i := strings.Index(text, "ALTER"); i >= 0 {
			sent = append(sent, text[i:])
		}
		if strings.Contains(text, "TRUSTWORTHY") {
			return denied
		}
		return tdstest.Done(tdstest.DoneFinal)
	}})
	s := openURL(t, server.URL("it's]here"))
	before := map[string]string{
		"owner":                           "ds2 user",
		"compatibility_level":             "150",
		"recovery_model_desc":             "SIMPLE",
		"is_query_store_on":               "false",
		"is_parameterization_forced":      "true",
		"is_read_committed_snapshot_on":   "true",
		"target_recovery_time_in_seconds": "0",
		"is_trustworthy_on":               "true",
		"is_encrypted":                    "true",
		"is_auto_shrink_on":               "false",
	}
	after := map[string]string{
		"owner":                           "sa",
		"compatibility_level":             "160",
		"recovery_model_desc":             "FULL",
		"is_query_store_on":               "false",
		"is_parameterization_forced":      "false",
		"is_read_committed_snapshot_on":   "false",
		"target_recovery_time_in_seconds": "60",
		"is_trustworthy_on":               "false",
		"is_encrypted":                    "false",
		"containment_desc":                "NONE",
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
	require.Len(t, warned, 2)
	require.Regexp(t, "is_trustworthy_on was true and is false.*permission", warned[0])
	require.Contains(t, warned[1], "is_encrypted was true")
	sent = nil
	s.setBack(t.Context(), s.db, nil, after, func(text string) { t.Error(text) })
	require.Empty(t, sent, "of a database that was not open nothing is known")
}

// TestBackupsUnknown: where the connection is lost while it is asked which backup is the newer one,
// neither is written over, and neither is restored.
func TestBackupsUnknown(t *testing.T) {
	var server *tdstest.Server
	server = tdstest.Start(t, tdstest.Options{Request: func(payload []byte) []byte {
		text := tdstest.Text(payload)
		switch {
		case strings.Contains(text, askWhat):
			return sqlServer2022
		case strings.Contains(text, "HEADERONLY"):
			server.Drop()
			return nil
		case strings.Contains(text, "BACKUP DATABASE ["):
			t.Error("a backup is written over")
		}
		return tdstest.Done(tdstest.DoneFinal)
	}})
	s := openURL(t, server.URL("DS2"))
	how := store.Copying{Tell: progress.Ignore, Warn: func(text string) { t.Error(text) }}
	jobs := []func(context.Context, store.Copying) error{s.CreateSnapshot, s.RestoreSnapshot}
	for _, f := range jobs {
		err := f(t.Context(), how)
		require.Equal(t, store.Connection, store.Classify(err), "%v", err)
		require.ErrorContains(t, err, "ds2_snapshot_1_of_DS2.bak")
	}
}

// TestBackupOfAnother has a file hold the backup of another database, by its name, by its family,
// or of another server where the family is not known: nothing is replaced by it, and it is written
// over only where it is of an earlier database of this name on this server.
func TestBackupOfAnother(t *testing.T) {
	columns := []string{"BackupFinishDate", "DatabaseName", "ServerName", "FamilyGUID"}
	for _, c := range []struct {
		why              string
		backup           []string // name, server, family
		family           string   // of the database; empty: unknown
		restored, writes bool
	}{
		{"its own", []string{"DS2", "HERE", "F1"}, "F1", true, true},
		{"its own, by another case of its name", []string{"ds2", "HERE", "F1"}, "F1", true, true},
		{"of DS2_2", []string{"DS2_2", "HERE", "F2"}, "F1", false, false},
		{"of an earlier one of its name", []string{"DS2", "HERE", "F2"}, "F1", false, true},
		{"of another server's", []string{"DS2", "THERE", "F2"}, "F1", false, false},
		{"restored from another server's", []string{"DS2", "THERE", "F1"}, "F1", true, true},
		{"of one that is gone", []string{"DS2", "HERE", "F1"}, "", true, true},
		{
			"of one that is gone, on another server",
			[]string{"DS2", "THERE", "F1"},
			"", false,
			false,
		},
	} {
		t.Run(c.why, func(t *testing.T) {
			var mu sync.Mutex
			var restored, written bool
			server := tdstest.Start(t, tdstest.Options{Request: func(payload []byte) []byte {
				text := tdstest.Text(payload)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case strings.Contains(text, askWhat):
					return sqlServer2022
				case strings.Contains(text, "HEADERONLY"):
					return named(columns, append([]string{"2026-11-28T12:00:00Z"}, c.backup...))
				case strings.Contains(text, "family_guid"):
					return named(columns[2:], []string{"HERE", c.family})
				case strings.Contains(text, "FILELISTONLY"):
					return named([]string{"LogicalName"})
				case strings.Contains(text, "state_desc"):
					return tdstest.Answer(
						metadata(nvarchar4000, intN4, nvarchar4000),
						tdstest.Done(tdstest.DoneFinal),
					)
				case strings.Contains(text, "RESTORE DATABASE ["):
					restored = true
				case strings.Contains(text, "BACKUP DATABASE ["):
					written = true
				}
				return tdstest.Done(tdstest.DoneFinal)
			}})
			s := openURL(t, server.URL("DS2"))
			how := store.Copying{Tell: progress.Ignore, Warn: func(string) {}}
			err := s.RestoreSnapshot(t.Context(), how)
			assert.Equal(t, c.restored, restored, "%v", err)
			assert.Equal(t, c.restored, err == nil, "%v", err)
			err = s.CreateSnapshot(t.Context(), how)
			assert.Equal(t, c.writes, written, "%v", err)
			assert.Equal(t, c.writes, err == nil, "%v", err)
		})
	}
	two := [2]string{"ds2_snapshot_1_of_DS2_2.bak", "ds2_snapshot_2_of_DS2_2.bak"}
	other := openURL(t, tdstest.Start(t, tdstest.Options{}).URL("DS2_2"))
	assert.Equal(t, two, other.backupFiles())
}
