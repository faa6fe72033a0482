package sqlserver

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ds2/internal/store"
	"ds2/internal/store/sqlserver/tdstest"
)

// timedServer is a server with event sessions: it counts I/Os and their milliseconds, and tells its histograms.
type timedServer struct {
	mu         sync.Mutex
	counted    [6]string         // data read, data write, log write: how many, and their milliseconds
	histograms map[string]string // by the end of a session's name; none: it does not run
	refuses    string            // a piece of the statement that it refuses
	said       []string          // statements on event sessions
}

var nothing = [6]string{"0", "0", "0", "0", "0", "0"}

func (s *timedServer) answer(payload []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := tdstest.Text(payload)
	has := func(piece string) bool { return strings.Contains(text, piece) }
	switch {
	case s.refuses != "" && has(s.refuses):
		return denied
	case has(askWhat):
		return sqlServer2022
	case has("dm_io_virtual_file_stats"):
		return cells(s.counted[:]...)
	case has("@@SPID"):
		return cells("ds2_io_51_9_")
	case has("server_event_sessions"):
		return cells("ds2_io_40_3_log_write")
	case has("FROM sys.database_files"):
		return rowsOf(2, "7", "2", "7", "5")
	case has("dm_xe_session_targets"):
		for name, xml := range s.histograms {
			if has(name) {
				return cells(xml)
			}
		}
	case has("EVENT SESSION"):
		for _, verb := range []string{"CREATE", "ALTER", "DROP"} {
			if at := strings.Index(text, verb+" EVENT"); at >= 0 {
				s.said = append(s.said, strings.TrimSpace(text[at:]))
			}
		}
	}
	return tdstest.Done(tdstest.DoneFinal)
}

func (s *timedServer) open(t *testing.T) *Store {
	return openURL(t, tdstest.Start(t, tdstest.Options{Request: s.answer}).URL("DS2"))
}

// slot is one of a histogram as Microsoft's page on targets has it.
func slot(count, value int) string {
	return fmt.Sprintf("\n  <Slot count=\"%d\">\n    <value>%d</value>\n  </Slot>", count, value)
}

func told(truncated int, slots ...string) string {
	return fmt.Sprintf(`<HistogramTarget truncated="%d" buckets="4">`, truncated) + strings.Join(slots, "") +
		"</HistogramTarget>"
}

// TestIOEvents: the unit of durations is what the server's own count of time makes it, and where it is neither of two
// there are no times. What a histogram lost is said, and none of its times are given.
func TestIOEvents(t *testing.T) {
	t.Parallel()
	const none = "" // before the first event
	full := told(0, slot(50, 1), slot(50, 2), slot(50, 3), slot(50, 4))
	for _, c := range []struct {
		name      string
		reads, ms string // that the server counts
		dataReads string
		unit      string
		p50       time.Duration
		says      string
	}{
		{"milliseconds", "200", "1000", told(0, slot(150, 4), slot(50, 8)), "ms", 5 * time.Millisecond, ""},
		{"microseconds", "200", "1000", told(0, slot(150, 4000), slot(50, 8000)), "µs", 4 * time.Millisecond, ""},
		{"neither", "200", "1000", told(0, slot(200, 50)), "", 0, "unknown: they are 10 times"},
		{"no time counted", "200", "0", told(0, slot(200, 1)), "", 0, "is unknown"},
		{"few", "99", "400", told(0, slot(99, 4)), "", 0, "99 I/Os are too few"},
		{"truncated", "200", "1000", told(7, slot(193, 4)), "", 0, "data read: the histogram lost 7"},
		{"full", "200", "1000", full, "", 0, "is full"},
		{"no XML", "200", "1000", "<HistogramTarget", "", 0, "read the histogram"},
	} {
		histograms := map[string]string{"data_read": none, "data_write": none, "log_write": none}
		server := &timedServer{counted: nothing, histograms: histograms}
		times, err := server.open(t).Can().TimeIO(t.Context())
		require.NoError(t, err, c.name)
		server.counted[0], server.counted[1], server.histograms["data_read"] = c.reads, c.ms, c.dataReads
		all, err := times.Read(t.Context())
		if c.says != "" {
			require.ErrorContains(t, err, c.says, c.name)
			require.Empty(t, all, c.name)
		} else {
			require.NoError(t, err, c.name)
			require.Len(t, all, 1, c.name)
			require.Equal(t, "data read", all[0].Name)
			require.EqualValues(t, 200, all[0].Count(), c.name)
			require.InEpsilon(t, c.p50, all[0].Quantile(.5), .02, c.name)
			all, err = times.Read(t.Context()) // nothing came since
			require.NoError(t, err, c.name)
			require.Empty(t, all, c.name)
			server.histograms["data_read"] = strings.Replace(c.dataReads, `"150"`, `"151"`, 1)
			all, err = times.Read(t.Context())
			require.NoError(t, err, c.name)
			require.EqualValues(t, 1, all[0].Count(), c.name)
		}
		server.histograms["data_read"] = none
		end, err := times.End(t.Context())
		require.NoError(t, err, c.name)
		require.Equal(t, c.unit, end.Unit, c.name)
	}
}

// TestIOEventSessions: what a killed ds2 left is dropped; each kind of I/O has a session with the files that it is of;
// they go when the timing ends, and when it cannot begin. A session that the server's restart ended is said.
func TestIOEventSessions(t *testing.T) {
	t.Parallel()
	server := &timedServer{counted: nothing}
	times, err := server.open(t).Can().TimeIO(t.Context())
	require.NoError(t, err)
	_, err = times.Read(t.Context())
	require.ErrorContains(t, err, "log write: its event session does not run any more")
	lost, whole := told(1, slot(999, 1)), told(0, slot(200, 5))
	server.histograms = map[string]string{"data_read": lost, "data_write": "", "log_write": whole}
	server.counted = [6]string{"999", "999", "0", "0", "200", "1000"}
	some, err := times.Read(t.Context())
	require.ErrorContains(t, err, "data read: the histogram lost 1")
	require.Len(t, some, 1)
	require.Equal(t, "log write", some[0].Name)
	const alter = "ALTER EVENT SESSION [ds2_io_51_9_data_read] ON SERVER STATE = "
	require.Equal(t, []string{alter + "STOP", alter + "START"}, server.said[len(server.said)-2:])
	_, err = times.End(t.Context())
	require.NoError(t, err)
	all := strings.Join(server.said, "\n")
	require.Equal(t, "DROP EVENT SESSION [ds2_io_40_3_log_write] ON SERVER", server.said[0])
	require.True(t, strings.HasPrefix(server.said[1], "CREATE EVENT SESSION [ds2_io_51_9_data_read]"), all)
	require.Contains(t, all, "file_read_completed (WHERE ([database_id] = 7 AND ([file_id] <> 2 AND [file_id] <> 5)))")
	require.Contains(t, all, "file_write_completed (WHERE ([database_id] = 7 AND ([file_id] = 2 OR [file_id] = 5)))")
	dropped := []string{"DROP EVENT SESSION [ds2_io_51_9_data_read] ON SERVER",
		"DROP EVENT SESSION [ds2_io_51_9_data_write] ON SERVER", "DROP EVENT SESSION [ds2_io_51_9_log_write] ON SERVER"}
	require.Equal(t, dropped, server.said[len(server.said)-3:])

	server = &timedServer{counted: server.counted, refuses: "CREATE EVENT SESSION [ds2_io_51_9_log_write]"}
	_, err = server.open(t).Can().TimeIO(t.Context())
	require.ErrorContains(t, err, "begin to time the I/Os of 127.0.0.1")
	require.Equal(t, dropped[:2], server.said[len(server.said)-2:])
}

// TestMayTimeIO: who has not the rights, and what server has no such events, is refused with what to do.
func TestMayTimeIO(t *testing.T) {
	const rights = "ALTER ANY EVENT SESSION"
	for says, answers := range map[string]map[string][]byte{
		"GRANT ALTER ANY EVENT SESSION, VIEW SERVER STATE TO": {askWhat: sqlServer2022, rights: cells("1", "0")},
		"run by Azure": {askWhat: cells("5", "12", "0", "1", "", "")},
		"":             {askWhat: sqlServer2022, rights: cells("1", "1")},
	} {
		err := answering(t, answers).Can().MayTimeIO(t.Context())
		if says == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, says)
		require.Equal(t, store.Config, store.Classify(err), says)
	}
}
