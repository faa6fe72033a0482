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
	v := view{
		ID: "backup", RunID: b.RunID, Title: fmt.Sprintf("backup test on %s, %s", b.Engine, counted(len(b.Targets), "database")),
		Headline: "no result",
		Byline:   byline(b.Start, "test "+b.RunID, b.KitVersion, strings.Join(b.Targets, ", ")),
	}
	if b.Status != result.Done {
		v.find(failure, strings.TrimSuffix(fmt.Sprintf("The test is recorded as %s: %s", b.Status, b.Error), ": "))
		return Page{v.Title, []view{v}}
	}
	v.Headline = fmt.Sprintf("%s MB/s read, %s MB in %s s", number(b.MBPerSecond, 1), number(float64(b.Bytes)/1e6, 1), number(b.Seconds, 1))
	v.find(proof, "The servers read everything that a backup reads, all at the same time, and discarded it")
	for _, u := range b.Units {
		if len(u.Targets) > 1 {
			v.find(aside, fmt.Sprintf("%s are in %s, which its server backs up as a whole", strings.Join(u.Targets, " and "), u.Unit))
		}
	}
	if slices.ContainsFunc(b.Units, func(u result.BackupUnit) bool { return u.Streamed }) {
		v.find(reservation, "A server too old to discard a backup itself sent it to ds2: the figures include the network and ds2's own processor time")
	}
	v.Figures = backupTable(b)
	v.Tables = []table{backupVolumes(b.Volumes), commandTable(b.Command)}
	return Page{v.Title, []view{v}}
}

// backupTable has a row for each backup and the sum.
func backupTable(b result.Backup) table {
	t := table{Caption: "Backup, all at once", Head: []string{"what", "databases", "MB", "s", "MB/s", "from the drives MB", "checksums"}}
	drives, known := int64(0), true
	for _, u := range b.Units {
		if u.Device != nil {
			drives += *u.Device
		}
		known = known && u.Device != nil
		t.Rows = append(t.Rows, []string{u.Unit, strings.Join(u.Targets, ", "), megabytes(&u.Bytes), number(u.Seconds, 1), number(u.MBPerSecond, 1), megabytes(u.Device), map[bool]string{true: "verified", false: "none"}[u.Checksums]})
	}
	sum := []string{"total", fmt.Sprint(len(b.Targets)), megabytes(&b.Bytes), number(b.Seconds, 1), number(b.MBPerSecond, 1), "–", ""}
	if known {
		sum[5] = megabytes(&drives)
	}
	t.Rows = append(t.Rows, sum)
	return t
}

// megabytes are of 10^6 bytes; a dash where nobody knows.
func megabytes(bytes *int64) string {
	if bytes == nil {
		return "–"
	}
	return number(float64(*bytes)/1e6, 1)
}

// backupVolumes is what the drives did, those of the data first among them.
func backupVolumes(volumes []monitor.Volume) table {
	t := table{Caption: "Volumes during the test", Head: []string{"volume", "holds", "reads/s", "MB/s read", "bytes/read", "read ms", "max"}}
	for _, v := range volumes {
		each := "–"
		if v.Reads > 0 {
			each = number(v.ReadBytes/v.Reads, 0)
		}
		roles := make([]string, len(v.Roles))
		for i, r := range v.Roles {
			roles[i] = string(r)
		}
		t.Rows = append(t.Rows, []string{v.Name, strings.Join(roles, ", "), number(v.Reads, 1), number(v.ReadBytes/1e6, 1), each, orElse("–", v.ReadMean, 1000, 3), orElse("–", v.ReadMax, 1000, 3)})
	}
	return t
}
