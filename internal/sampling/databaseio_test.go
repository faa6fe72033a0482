package sampling

import (
	"math"
	"testing"
	"time"

	"ds2/internal/topology"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestDatabases adds up what a server counted of three files in 30 s: reads of 10 ms from one data
// file and of 30 ms from the other, three times as many of the first; in the second half the log's
// writes take 4 ms instead of 2. Whether the files stand for drives makes no difference.
func TestDatabases(t *testing.T) {
	start := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for _, column := range []func(string) string{OfFile, func(ofDrive string) string {
		return ofDrive
	}} {
		table := Table{Rows: make([]Row, 30)}
		set := func(column string, value func(second int) float64) {
			i := table.placeOf(column)
			for n := range table.Rows {
				table.Rows[n].Values[i] = value(n)
			}
		}
		for n := range table.Rows {
			table.Rows[n].Time = start.Add(time.Duration(n+1) * time.Second)
		}
		for item, figures := range map[string]map[string]float64{
			"mail_1": {
				DiskReads: 300, DiskReadTime: .010, DiskReadBytes: 300 * 8192, DiskWrites: 0,
				DiskWriteTime: 0,
			},
			"mail_2": {DiskReads: 100, DiskReadTime: .030, DiskReadBytes: 100 * 16384},
			"log_1":  {DiskWrites: 50, DiskWrittenBytes: 50 * 4096},
		} {
			for figure, v := range figures {
				set(ItemColumn(column(figure), item), func(int) float64 { return v })
			}
		}
		set(ItemColumn(column(DiskWriteTime), "log_1"), func(n int) float64 {
			return .002 + .002*float64(n/15)
		})
		for _, drive := range []string{"data", "log"} { // so that there is storage
			set(ItemColumn(DiskReads, drive), func(int) float64 { return 1 })
		}
		const name = "host/MAIL"
		machine := &topology.Machine{
			Files: []topology.DatabaseFile{
				{Name: "mail_1", Database: name, Role: topology.Data},
				{Name: "mail_2", Database: name, Role: topology.Data},
				{Name: "log_1", Database: name, Role: topology.Log},
			},
			Drives: []topology.Drive{
				{Name: "data", Roles: []topology.Role{topology.Data}},
				{Name: "log", Roles: []topology.Role{topology.Log}},
			},
		}
		s, _ := Drives{
			Counters: table,
			Machine:  machine,
			From:     start,
			To:       start.Add(30 * time.Second),
		}.Storage()
		require.NotNil(t, s)
		require.Len(t, s.Databases, 1)
		data := s.Databases[0].Data
		log := s.Databases[0].Log
		for _, mean := range []**float64{&data.ReadMean, &data.ReadMax, &log.WriteMean, &log.WriteMax} {
			require.NotNil(t, *mean)
			**mean = math.Round(1e9**(*mean)) / 1e9
		}
		assert.Equal(t, DatabaseIO{
			name,
			FileIO{
				Reads:     400,
				ReadBytes: 300*8192 + 100*16384,
				Times:     Times{ReadMean: new(.015), ReadMax: new(.015)},
			},
			FileIO{
				Writes:       50,
				WrittenBytes: 50 * 4096,
				Times:        Times{WriteMean: new(.003), WriteMax: new(.004)},
			},
		}, s.Databases[0], column(DiskReads))
	}
}
