package sampling

import (
	"math"
	"slices"
	"testing"
	"time"

	"ds2/internal/topology"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSharedDrive has one server's data and log on one drive, and another server's log on a
// separate drive: each write counts once.
func TestSharedDrive(t *testing.T) {
	columns := []string{
		"disk.a.reads_per_second", "disk.a.writes_per_second", "disk.a.written_bytes_per_second",
		"disk.b.reads_per_second", "disk.b.writes_per_second", "disk.b.written_bytes_per_second",
		"db.one.log_syncs_per_second", "db.two.log_syncs_per_second",
		"db.one.log_bytes_per_second", "db.two.log_bytes_per_second",
	}
	start := time.Unix(0, 0)
	end := start.Add(time.Second)
	machine := &topology.Machine{
		Drives: []topology.Drive{
			{Name: "a", Roles: []topology.Role{topology.Data, topology.Log}},
			{Name: "b", Roles: []topology.Role{topology.Log}},
		},
	}
	storage := func(values ...float64) *Storage {
		s, _ := Drives{
			Table{columns, []Row{{Time: end, Values: values}}},
			machine,
			start,
			end,
		}.Storage()
		return s
	}
	s := storage(0, 100, 9e5, 0, 20, 2e5, 30, 20, 3e5, 2e5)
	require.NotNil(t, s)
	got := []float64{s.LogWrites, s.Writes, s.IOPS, s.PageIOPS, *s.LogBytes}
	assert.Equal(t, []float64{50, 70, 70, 6e5 / PageBytes, 1e4}, got)
	unknown := math.NaN()
	assert.Nil(
		t,
		storage(0, 100, 9e5, 0, 20, 2e5, unknown, 20, 3e5, 2e5),
		"with the log's writes unknown",
	)
	assert.Nil(
		t,
		storage(0, 100, 9e5, unknown, unknown, unknown, 30, 20, 3e5, 2e5),
		"with a drive that is not counted",
	)
	columns = columns[:6]
	assert.Nil(t, storage(0, 100, 9e5, 0, 20, 2e5), "with servers that count nothing of the log")
}

// TestLogWrites: a commit waits until its log is written, and for a flush of the drive's cache
// where it needs one.
func TestLogWrites(t *testing.T) {
	unknown := math.NaN()
	columns := []string{
		"disk.a.writes_per_second",
		"disk.a.write_seconds",
		"disk.a.flushes_per_second",
		"disk.a.flush_seconds",
		"db.log_syncs_per_second",
	}
	machine := &topology.Machine{
		Drives: []topology.Drive{{Name: "a", Roles: []topology.Role{topology.Log}}},
	}
	start := time.Unix(0, 0)
	for why, c := range map[string]struct{ flushes, took, syncs, want float64 }{
		"a write-back cache":                {20, .003, 20, .005},
		"a write-through cache":             {0, unknown, 20, .002},
		"two writes past the cache of 20":   {18, .003, 20, .0047},
		"the file system's journal flushes": {40, .003, 20, .005},
		"PostgreSQL 13 counts no syncs":     {20, .003, unknown, .005},
		"Windows counts no flushes":         {unknown, unknown, 20, .002},
	} {
		table := Table{
			columns,
			[]Row{
				{
					Time:   start.Add(time.Second),
					Values: []float64{20, .002, c.flushes, c.took, c.syncs},
				},
				{
					Time:   start.Add(2 * time.Second),
					Values: []float64{20, .002, c.flushes, c.took, c.syncs},
				},
			},
		}
		seen := Drives{table, machine, start, start.Add(2 * time.Second)}
		for kind, want := range map[IOKind]float64{{Role: topology.Log, Write: true}: c.want, {Write: true}: .002} {
			kind.Over = Interval
			got := seen.Slowest(kind)
			assert.InDeltaSlice(
				t,
				[]float64{want, want},
				[]float64{got.Mean, got.Longest},
				1e-12,
				"%s: %+v",
				why,
				kind,
			)
		}
	}
}

// TestWhoseReads: what vacuums did is no achieved I/O, where the server tells them apart; and a
// read lasts as long as the drive or the server has it, whichever is longer.
func TestWhoseReads(t *testing.T) {
	unknown := math.NaN()
	machine := &topology.Machine{
		Drives: []topology.Drive{
			{Name: "a", Roles: []topology.Role{topology.Data}},
			{Name: "b", Roles: []topology.Role{topology.Log}},
		},
	}
	start := time.Unix(0, 0)
	for why, c := range map[string]struct {
		running                 float64 // vacuums
		vacuums, reads, seconds float64 // of the server
		syncs, synced           float64 // seconds of its writes of the log, and of its syncs
		iops, read, log         float64
		held                    bool
	}{
		"a vacuum under way, which is counted at its end": {
			1, 0, 20, .02, .005, .01, 20 + 40 + 4, .001, .003, false,
		},
		"a vacuum under way, of drives that do less": {1, 0, 200, .2, .005, .01, 100 + 40 + 4, .001, .003, false},
		"a vacuum of three quarters of the reads":    {0, 75, 25, .025, .005, .01, 25 + 50, .001, .003, false},
		"no vacuum":                      {0, 0, 100, .1, .005, .01, 100 + 50, .001, .003, false},
		"reads in the kernel's cache":    {0, 0, 2000, 1.8, .005, .01, 100 + 50, .001, .003, false},
		"a limit above, and such reads":  {0, 0, 500, 5, .005, .01, 100 + 50, .05, .003, true},
		"a limit above the drive":        {0, 0, 100, 5, .005, .01, 100 + 50, .05, .003, true},
		"a limit above the log's drive":  {0, 0, 100, .1, .01, .2, 100 + 50, .001, .042, false},
		"a server that times nothing":    {0, 0, 100, unknown, unknown, unknown, 100 + 50, .001, .001, false},
		"PostgreSQL before 16, a vacuum": {0, unknown, 100, 5, .005, .01, 100 + 50, .05, .003, true},
		"PostgreSQL before 16, in no time": {
			0, unknown, 100, .1, .005, .01, 100 + 50, .001, .003, false,
		},
	} {
		columns := []string{}
		values := []float64{}
		add := func(v float64, column string) {
			columns = append(columns, column)
			values = append(values, v)
		}
		add(100, "disk.a.reads_per_second")
		add(.001, "disk.a.read_seconds")
		add(50, "disk.a.writes_per_second")
		add(0, "disk.b.reads_per_second")
		add(5, "disk.b.writes_per_second")
		add(.001, "disk.b.write_seconds")
		add(5, DatabaseLogWrites)
		add(c.syncs, DatabaseLogWriteTime)
		add(5, DatabaseLogSyncs)
		add(c.synced, DatabaseLogSyncTime)
		if math.IsNaN(c.vacuums) {
			add(c.reads, DatabasePageReads)
			add(c.seconds, DatabasePageReadTime)
		} else {
			add(c.vacuums, VacuumReads)
			add(c.reads, TransactionReads)
			add(c.seconds, TransactionReadTime)
			add(0, VacuumWrites)
			add(50-10*c.running, TransactionWrites)
			add(4, TransactionExtends)
			add(c.running, DatabaseVacuums)
		}
		row := Row{Time: start.Add(time.Second), Values: values}
		seen := Drives{Table{columns, []Row{row}}, machine, start, row.Time}
		s, err := seen.Storage()
		require.NoError(t, err, why)
		data := IOKind{Role: topology.Data, Over: Interval}
		read := seen.Slowest(data).Mean
		log := seen.Slowest(IOKind{Role: topology.Log, Write: true, Over: Interval}).Mean
		assert.InDeltaSlice(
			t,
			[]float64{c.iops, c.read, c.log},
			[]float64{s.IOPS, read, log},
			1e-9,
			why,
		)
		_, _, held := seen.HeldAbove(data)
		assert.Equal(t, c.held, held, why)
		assert.Equal(t, math.IsNaN(c.vacuums), !s.Maintenance.Vacuums, why)
		if s.Maintenance.Vacuums {
			assert.InDelta(t, 150, s.IOPS+s.Maintenance.IOPS(), 1e-9, why)
		} else {
			assert.Nil(t, s.Maintenance.Reads, why)
			assert.InDelta(t, math.NaN(), s.Maintenance.IOPS(), 0, why)
		}
	}
}

// TestOtherPrograms: what the drives did and no server counted is not achieved.
func TestOtherPrograms(t *testing.T) {
	start := time.Unix(0, 0)
	end := start.Add(time.Minute)
	for why, c := range map[string]struct {
		reads, writes float64 // of the drive
		own           map[string]float64
		iops, others  float64
	}{
		"none": {100, 50, map[string]float64{
			TransactionReads: 101, TransactionWrites: 45, TransactionExtends: 4,
		}, 150, 0},
		"reads": {
			400, 50, map[string]float64{TransactionReads: 100, TransactionWrites: 50}, 150, 300,
		},
		"reads, where the kernel's cache has most": {400, 50, map[string]float64{
			TransactionReads: 5000, TransactionWrites: 50,
			ServerReadBytes: 100 * PageBytes, DatabaseLogBytes: 1,
		}, 150, 300},
		"writes": {
			100, 350, map[string]float64{TransactionReads: 100, TransactionWrites: 50}, 150, 300,
		},
		"PostgreSQL before 16": {100, 350, map[string]float64{
			DatabasePageReads: 100, DatabaseCheckpointPages: 20,
			DatabaseBackgroundPages: 20, DatabaseSessionPages: 10,
		}, 150, 300},
		"a server that counts nothing": {400, 50, nil, 450, 0},
		"few, as of a journal":         {3, 9, map[string]float64{TransactionReads: 1, TransactionWrites: 1}, 12, 0},
		"a vacuum that is counted at its end": {400, 50, map[string]float64{
			TransactionReads: 100, TransactionWrites: 50, DatabaseVacuums: 1,
		}, 450, 0},
	} {
		columns := []string{
			"disk.a.reads_per_second",
			"disk.a.writes_per_second",
			"disk.b.writes_per_second",
		}
		columns = append(columns, "disk.b.reads_per_second", VacuumReads, VacuumWrites)
		values := []float64{c.reads, c.writes, 5, 0, 0, 0}
		for column, v := range c.own {
			columns = append(columns, column)
			values = append(values, v)
		}
		if _, counts := c.own[TransactionWrites]; counts && c.own[TransactionExtends] == 0 {
			columns = append(columns, TransactionExtends)
			values = append(values, 0)
		}
		table := Table{Columns: columns}
		for second := 1; second <= 60; second++ {
			at := start.Add(time.Duration(second) * time.Second)
			table.Rows = append(table.Rows, Row{Time: at, Values: values})
		}
		machine := &topology.Machine{
			Drives: []topology.Drive{
				{Name: "a", Roles: []topology.Role{topology.Data}},
				{Name: "b", Roles: []topology.Role{topology.Log}},
			},
		}
		s, err := Drives{table, machine, start, end}.Storage()
		require.NoError(t, err, why)
		iops := s.IOPS
		if s.Maintenance.Vacuums {
			iops += s.Maintenance.IOPS()
		}
		got := []float64{iops, s.Others}
		assert.InDeltaSlice(t, []float64{c.iops, c.others}, got, 1e-9, why)
	}
}

// TestScanBesideVacuum: what a scan read is taken out once, also where a vacuum runs beside it.
func TestScanBesideVacuum(t *testing.T) {
	columns := []string{
		"disk.a.reads_per_second",
		"disk.a.writes_per_second",
		"disk.b.reads_per_second",
		"disk.b.writes_per_second",
		ScrubReads,
		TransactionReads,
		TransactionWrites,
		VacuumReads,
		VacuumWrites,
		DatabaseVacuums,
	}
	machine := &topology.Machine{
		Drives: []topology.Drive{
			{Name: "a", Roles: []topology.Role{topology.Data}},
			{Name: "b", Roles: []topology.Role{topology.Log}},
		},
	}
	start := time.Unix(0, 0)
	row := Row{
		Time:   start.Add(time.Second),
		Values: []float64{100, 50, 0, 5, 30, 60, 50, 0, 0, 1},
	} // 10 of a vacuum not yet counted
	seen := Drives{Table{columns, []Row{row}}, machine, start, row.Time}
	s, err := seen.Storage()
	require.NoError(t, err)
	assert.Equal(
		t,
		[]float64{60, 50, 40, 0},
		[]float64{s.Reads, s.Writes, *s.Maintenance.Reads, *s.Maintenance.Writes},
	)
	for range lateReport { // samples after the window, in which it has ended
		row.Time, row.Values = row.Time.Add(time.Second), append(slices.Clone(row.Values[:9]), 0)
		seen.Counters.Rows = append(seen.Counters.Rows, row)
	}
	s, err = seen.Storage()
	require.NoError(t, err)
	assert.Equal(t, 70., s.Reads, "what an ended vacuum did is counted, and the rest not its")
	work, _ := seen.Work()
	assert.Equal(t, 120., work.Drives, "users and vacuum")
}

// TestHighestMean: a part of the window counts for the maximum also where its last second had no
// I/O, and not where the window ends amid it.
func TestHighestMean(t *testing.T) {
	start := time.Unix(0, 0)
	counters := Table{Columns: []string{"disk.a.writes_per_second", "disk.a.write_seconds"}}
	for second := range 70 {
		values := []float64{100, .001}
		switch {
		case second < 14:
			values[1] = .3
		case second == 14:
			values[0] = 0
		case second >= 60:
			values[1] = .9
		}
		counters.Rows = append(
			counters.Rows,
			Row{Time: start.Add(time.Duration(second+1) * time.Second), Values: values},
		)
	}
	machine := &topology.Machine{
		Drives: []topology.Drive{{Name: "a", Roles: []topology.Role{topology.Data}}},
	}
	for seconds, want := range map[int]float64{60: .3, 65: .3, 70: .3, 75: .9} {
		seen := Drives{counters, machine, start, start.Add(time.Duration(seconds) * time.Second)}
		got := seen.Slowest(IOKind{Role: topology.Data, Write: true, Over: VerdictMeans})
		assert.InDelta(
			t,
			max(want, got.Mean),
			got.Longest,
			1e-9,
			"a window of %d s, of which 70 are measured",
			seconds,
		)
	}
}

// TestVacuumsInTime: what a vacuum did counts in the time in which it ran, also where a window
// begins or ends amid it.
func TestVacuumsInTime(t *testing.T) {
	start := time.Unix(0, 0)
	counters := Table{Columns: []string{VacuumReads, DatabaseVacuums}}
	for second := 1; second <= 90; second++ {
		values := []float64{0, 0}
		switch {
		case second > 10 && second <= 40, second > 70 && second <= 85:
			values[1] = 1 // runs
		case second == 42:
			values[0] = 3200 // 100 in each of 11 to 42
		case second == 86:
			values[0] = 1600
		}
		counters.Rows = append(
			counters.Rows,
			Row{Time: start.Add(time.Duration(second) * time.Second), Values: values},
		)
	}
	for _, c := range []struct{ from, to, want float64 }{
		{0, 60, 3200. / 60},
		{30, 60, 1200. / 30},
		{0, 30, 2000. / 30},
		{45, 70, 0},
		{72, 90, 1400. / 18},
		{80, 86, 100},
	} {
		at := func(second float64) time.Time {
			return start.Add(time.Duration(second) * time.Second)
		}
		seen := Drives{counters, nil, at(c.from), at(c.to)}
		assert.InDelta(t, c.want, seen.spreadMean(VacuumReads), 1e-9, "%g to %g", c.from, c.to)
	}
}

// TestRAID: a small write to RAID 5 is two reads and two writes of its drives: it was achieved
// once, and is a load of four.
func TestRAID(t *testing.T) {
	machine := &topology.Machine{
		Drives: []topology.Drive{
			{Name: "sda", Roles: []topology.Role{topology.Data}},
			{Name: "sdb", Roles: []topology.Role{topology.Data}},
			{Name: "sdc", Roles: []topology.Role{topology.Data}},
			{Name: "sdd", Roles: []topology.Role{topology.Log}},
		},
		Volumes: []topology.Drive{{
			Name: "md0", Under: []string{"sda", "sdb", "sdc"},
			Roles: []topology.Role{topology.Data},
		}},
	}
	start := time.Unix(0, 0)
	table := Table{Rows: []Row{{Time: start.Add(time.Second)}}}
	for column, value := range map[string]float64{
		DiskReads: 50, DiskWrites: 40, DiskReadBytes: 50 * PageBytes, DiskWrittenBytes: 40 * PageBytes,
	} {
		for _, drive := range []string{"sda", "sdb", "sdc", "sdd"} {
			table.Columns = append(table.Columns, ItemColumn(column, drive))
			table.Rows[0].Values = append(table.Rows[0].Values, value)
		}
		table.Columns = append(table.Columns, ItemColumn(ofVolume(column), "md0"))
		table.Rows[0].Values = append(table.Rows[0].Values, value+20)
	}
	d := Drives{Counters: table, Machine: machine, From: start, To: start.Add(time.Second)}
	s, err := d.Storage()
	require.NoError(t, err)
	assert.Equal(t, 70., s.Reads)
	assert.Equal(t, 60., s.Writes)
	assert.Equal(t, 40., s.LogWrites)
	assert.Equal(t, 200.*PageBytes, s.ReadBytes, "of all drives")
	assert.Len(t, s.Volumes, 4)
	machine.Volumes[0].WritesUnknown = "it counts empty flushes"
	_, err = d.Storage()
	assert.ErrorContains(t, err, "drive md0 are unknown: it counts empty")
}
