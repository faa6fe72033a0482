package report

import (
	"fmt"
	"slices"
	"strings"

	"ds2/internal/monitor"
	"ds2/internal/result"
)

// Backup is what there is to read of a backup test.
func Backup(b result.Backup) Page {
	v := view{ID: "backup", RunID: b.RunID, Headline: "no result"}
	v.Title = fmt.Sprintf("backup test on %s, %s", b.Engine, counted(len(b.Targets), "database"))
	v.Byline = byline(b.Start, "test "+b.RunID, b.KitVersion, strings.Join(b.Targets, ", "))
	if b.Status != result.Done {
		v.find(failure, strings.TrimSuffix(fmt.Sprintf("The test is recorded as %s: %s", b.Status, b.Error), ": "))
		return Page{v.Title, []view{v}}
	}
	v.Headline = fmt.Sprintf("%s MB/s read, %s MB in %s s",
		number(b.MBPerSecond, 1), megabytes(&b.Bytes), number(b.Seconds, 1))
	v.find(proof, "The servers read everything that a backup reads, all at the same time, and discarded it")
	for _, u := range b.Units {
		if len(u.Targets) > 1 {
			several := strings.Join(u.Targets, " and ")
			v.findf(aside, "%s are in %s, which its server backs up as a whole", several, u.Unit)
		}
	}
	if slices.ContainsFunc(b.Units, func(u result.BackupUnit) bool { return u.Streamed }) {
		v.find(reservation, "A server too old to discard a backup itself sent it to ds2: "+
			"the figures include the network and ds2's own processor time")
	}
	v.Figures = backupTable(b)
	v.Tables = []table{backupVolumes(b.Volumes), commandTable(b.Command)}
	return Page{v.Title, []view{v}}
}

func backupTable(b result.Backup) table {
	t := newTable("Backup, all at once", "what", "databases", "MB", "s", "MB/s", "from the drives MB", "checksums")
	row := func(what, databases string, bytes int64, took, rate float64, device *int64, checksums string) {
		t.row(what, databases, megabytes(&bytes), number(took, 1), number(rate, 1), megabytes(device), checksums)
	}
	drives := new(int64)
	for _, u := range b.Units {
		if u.Device == nil {
			drives = nil
		} else if drives != nil {
			*drives += *u.Device
		}
		checksums := "none"
		if u.Checksums {
			checksums = "verified"
		}
		row(u.Unit, strings.Join(u.Targets, ", "), u.Bytes, u.Seconds, u.MBPerSecond, u.Device, checksums)
	}
	row("total", fmt.Sprint(len(b.Targets)), b.Bytes, b.Seconds, b.MBPerSecond, drives, "")
	return t
}

// megabytes are of 10^6 bytes; a dash where nobody knows.
func megabytes(bytes *int64) string {
	return known(bytes, "–", func(n int64) string { return number(float64(n)/1e6, 1) })
}

// backupVolumes is what the drives did, those of the data first among them.
func backupVolumes(volumes []monitor.Volume) table {
	t := newTable("Volumes during the test", "volume", "holds", "reads/s", "MB/s read", "bytes/read", "read ms", "max")
	for _, v := range volumes {
		each := "–"
		if v.Reads > 0 {
			each = number(v.ReadBytes/v.Reads, 0)
		}
		t.row(v.Name, joined(v.Roles), number(v.Reads, 1), number(v.ReadBytes/1e6, 1), each,
			orElse("–", v.ReadMean, 1000, 3), orElse("–", v.ReadMax, 1000, 3))
	}
	return t
}

// joined are words after commas.
func joined[S ~string](words []S) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}
