package monitor

import (
	"testing"
	"time"
)

// TestDatabases adds up what a server counted of three files in 30 s: reads of 10 ms from one data file and of 30 ms
// from the other, three times as many of the first; in the second half the log's writes take 4 ms instead of 2. Whether
// the files stand for drives makes no difference.
func TestDatabases(t *testing.T) {
	start := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	for _, column := range []func(string) string{OfFile, func(ofDrive string) string { return ofDrive }} {
		reads, writes, readBytes, writtenBytes := column(DiskReads), column(DiskWrites), column(DiskReadBytes), column(DiskWrittenBytes)
		readTime, writeTime := column(DiskReadTime), column(DiskWriteTime)
		table := Table{Columns: []string{
			ItemColumn(reads, "mail_1"), ItemColumn(readTime, "mail_1"), ItemColumn(readBytes, "mail_1"), ItemColumn(writes, "mail_1"), ItemColumn(writeTime, "mail_1"),
			ItemColumn(reads, "mail_2"), ItemColumn(readTime, "mail_2"), ItemColumn(readBytes, "mail_2"),
			ItemColumn(writes, "log_1"), ItemColumn(writeTime, "log_1"), ItemColumn(writtenBytes, "log_1"),
			ItemColumn(DiskReads, "data"), ItemColumn(DiskReads, "log"), // of drives, so that there is storage
		}}
		for i := range 30 {
			log := 0.002
			if i >= 15 {
				log = 0.004
			}
			table.Rows = append(table.Rows, Row{Time: start.Add(time.Duration(i+1) * time.Second), Values: []float64{
				300, 0.010, 300 * 8192, 0, 0,
				100, 0.030, 100 * 16384,
				50, log, 50 * 4096,
				1, 1,
			}})
		}
		machine := &Machine{Files: []DatabaseFile{{"mail_1", "host/MAIL", Data}, {"mail_2", "host/MAIL", Data}, {"log_1", "host/MAIL", Log}},
			Drives: []Drive{{Name: "data", Roles: []Role{Data}}, {Name: "log", Roles: []Role{Log}}}}
		s := Drives{Counters: table, Machine: machine, From: start, To: start.Add(30 * time.Second)}.Storage()
		if s == nil || len(s.Databases) != 1 || s.Databases[0].Database != "host/MAIL" {
			t.Fatalf("got %+v", s)
		}
		data, log := s.Databases[0].Data, s.Databases[0].Log
		if data.Reads != 400 || data.ReadBytes != 300*8192+100*16384 || data.Writes != 0 || data.WriteMean != nil || log.Reads != 0 || log.Writes != 50 || log.WrittenBytes != 50*4096 {
			t.Errorf("column %s: data %+v, log %+v", reads, data, log)
		}
		for _, c := range []struct {
			what string
			got  *float64
			want float64
		}{
			{"mean of reads", data.ReadMean, 0.015},
			{"longest mean of reads", data.ReadMax, 0.015},
			{"mean of log writes", log.WriteMean, 0.003},
			{"longest mean of log writes", log.WriteMax, 0.004},
		} {
			if c.got == nil || *c.got < c.want-1e-9 || *c.got > c.want+1e-9 {
				t.Errorf("column %s: %s is %v, not %v", reads, c.what, c.got, c.want)
			}
		}
	}
}
