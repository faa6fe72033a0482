package sqlserver

import (
	"database/sql"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ds2/internal/sqlservertest"
	"ds2/internal/store"
	"ds2/schema"
)

// systemObject is one of Microsoft's views and functions in a query, with its parameters.
var systemObject = regexp.MustCompile(`sys\.(\w+)(\(DB_ID\([^)]*\)(, NULL)?\))?`)

// TestQueriesOfSystemViews runs queries on a server that has tables in the place of Microsoft's
// views, and wants the figures that their pages mean.
func TestQueriesOfSystemViews(t *testing.T) {
	s := open(t, sqlservertest.Database(t))
	create := []schema.Statement{{Name: "create database", SQL: "CREATE DATABASE " + s.Name()}}
	require.NoError(t, s.CreateDatabase(t.Context(), create))
	exec := func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			_, err := s.DB().ExecContext(t.Context(), statement)
			require.NoError(t, err, statement)
		}
	}
	queries := schema.ServerQueries(Engine)
	ask := func(query string) string { // with the tables
		query = strings.ReplaceAll(query, "SERVERPROPERTY('Babelfish') = 1", "1 = 0")
		return systemObject.ReplaceAllString(query, "told_$1")
	}
	setting := func(name string) string {
		t.Helper()
		for _, query := range queries.Settings {
			if strings.Contains(query, "'"+name+"'") {
				found, err := store.Pairs[string](t.Context(), s.DB(), ask(query))
				require.NoError(t, err, query)
				return found[name]
			}
		}
		require.Fail(t, "nothing asks for it", name)
		return ""
	}

	// What the Resource Governor held back is not the drives' time.
	exec(
		"CREATE TABLE told_database_files (file_id int, type tinyint, name varchar(20), is_persistent_log_buffer bit)",
		"INSERT INTO told_database_files VALUES (1, 0, 'cust_1', 0), (2, 1, 'log_1', 0), (3, 1, 'log_2', 1)",
		`CREATE TABLE told_dm_io_virtual_file_stats (file_id smallint, num_of_reads bigint, num_of_bytes_read bigint,
			io_stall_read_ms bigint, io_stall_queued_read_ms bigint, num_of_writes bigint, num_of_bytes_written bigint,
			io_stall_write_ms bigint, io_stall_queued_write_ms bigint)`,
		"INSERT INTO told_dm_io_virtual_file_stats VALUES (1, 10, 81920, 5000, 3000, 20, 163840, 900, 400), "+
			"(2, 1, 512, 10, 0, 7, 4096, 70, 20)",
	)
	type file struct{ read, write float64 }
	files := map[string]file{}
	err := store.EachRow(t.Context(), s.DB(), store.MaxListed, ask(queries.FileCounters), func(rows *sql.Rows) error {
		var name, role string
		var f file
		var ignored int64
		err := rows.Scan(&name, &role, &ignored, &ignored, &ignored, &ignored, &f.read, &f.write)
		files[name] = f
		return err
	})
	require.NoError(t, err)
	assert.Equal(t, map[string]file{"cust_1": {2, .5}, "log_1": {.01, .05}}, files)
	assert.Equal(t, "1", setting("database persistent log buffer"))

	// Waits for a limit of the log are those that Azure's pages name, and no other throttling.
	exec(
		"CREATE TABLE told_configurations (configuration_id int, value_in_use int)",
		"INSERT INTO told_configurations VALUES (1, 7), (2, 8)",
		`CREATE TABLE told_databases (
			name nvarchar(128), is_memory_optimized_enabled bit, database_id int,
			delayed_durability int, recovery_model tinyint, page_verify_option tinyint,
			snapshot_isolation_state tinyint, is_read_committed_snapshot_on bit)`,
		"INSERT INTO told_databases VALUES (DB_NAME(), 1, 5, 0, 1, 2, 0, 0)",
		"CREATE TABLE told_dm_os_performance_counters (object_name nchar(128), counter_name nchar(128), "+
			"instance_name nchar(128), cntr_value bigint)",
		"INSERT INTO told_dm_os_performance_counters VALUES "+
			"('SQLServer:Buffer Manager', 'Buffer cache hit ratio', '', 30), "+
			"('SQLServer:Buffer Manager', 'Buffer cache hit ratio base', '', 40), "+
			"('SQLServer:Locks', 'Lock Waits/sec', '_Total', 3), ('SQLServer:Locks', 'Lock Waits/sec', 'Page', 2)",
		"CREATE TABLE told_dm_os_wait_stats (wait_type nvarchar(60), wait_time_ms bigint)",
		"INSERT INTO told_dm_os_wait_stats VALUES ('LOG_RATE_GOVERNOR', 1000), ('POOL_LOG_RATE_GOVERNOR', 2000), "+
			"('INSTANCE_LOG_RATE_GOVERNOR', 4000), ('HADR_THROTTLE_LOG_RATE_GOVERNOR', 8000), "+
			"('HADR_THROTTLE_LOG_RATE_SEND_RECV_QUEUE_SIZE', 16000), ('HADR_THROTTLE_LOG_RATE_MISMATCHED_SLO', 32000), "+
			"('HADR_WORK_QUEUE', 64000), ('WRITELOG', 500), ('LOGBUFFER', 250), ('PAGEIOLATCH_SH', 125), ('LCK_M_X', 62)",
	)
	counters, err := queries.Counters("server", 16)
	require.NoError(t, err)
	found, err := store.Pairs[sql.NullFloat64](t.Context(), s.DB(), ask(counters))
	require.NoError(t, err)
	for name, want := range map[string]float64{
		"waits_log_limit_seconds_total": 63, "waits_log_write_seconds_total": .75, "waits_data_read_seconds_total": .125,
		"waits_lock_seconds_total": .062, "waits_latch_seconds_total": 0, "cache_hit_ratio": .75, "lock_waits_total": 3,
	} {
		assert.InDelta(t, want, found[name].Float64, 1e-9, name)
	}

	sum := found["settings_sum"]
	exec("UPDATE told_databases SET recovery_model = 3")
	found, err = store.Pairs[sql.NullFloat64](t.Context(), s.DB(), ask(counters))
	require.NoError(t, err)
	assert.NotEqual(t, sum, found["settings_sum"], "a setting was changed")

	// The governor is on where it classifies sessions, or a pool has a limit of I/Os.
	exec(
		"CREATE TABLE told_dm_resource_governor_configuration (classifier_function_id int)",
		"CREATE TABLE told_dm_resource_governor_resource_pools (pool_id int, max_iops_per_volume int)",
		"INSERT INTO told_dm_resource_governor_configuration VALUES (0)",
		"INSERT INTO told_dm_resource_governor_resource_pools VALUES (1, NULL), (2, NULL)",
	)
	assert.Equal(t, "0", setting("server resource governor"))
	exec(
		"UPDATE told_dm_resource_governor_resource_pools SET max_iops_per_volume = 500 WHERE pool_id = 2",
	)
	assert.Equal(t, "1", setting("server resource governor"))
	exec("UPDATE told_dm_resource_governor_resource_pools SET max_iops_per_volume = NULL",
		"UPDATE told_dm_resource_governor_configuration SET classifier_function_id = 7")
	assert.Equal(t, "1", setting("server resource governor"))

	// The hybrid buffer pool is on where the database and the server have it on.
	exec(
		"CREATE TABLE told_server_memory_optimized_hybrid_buffer_pool_configuration (is_configured bit, is_enabled bit)",
		"INSERT INTO told_server_memory_optimized_hybrid_buffer_pool_configuration VALUES (1, 0)",
	)
	assert.Equal(t, "0", setting("database memory optimized pages"))
	exec("UPDATE told_server_memory_optimized_hybrid_buffer_pool_configuration SET is_enabled = 1")
	assert.Equal(t, "1", setting("database memory optimized pages"))
}
