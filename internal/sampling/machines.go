package sampling

import (
	"strings"

	"ds2/internal/topology"
)

// OfMachine is what the counters say of one of several machines alone: its drives, and the servers
// whose host it has. It is not known where another machine goes by the same host, no server by this
// one, or something was counted over all targets together.
func (d Drives) OfMachine(machine string) (part Drives, known bool) {
	host := topology.HostOf(machine)
	others := map[string]bool{}
	drives := map[string]bool{}
	own := topology.Machine{}
	for _, drive := range d.Machine.Drives {
		if drive.Machine == machine {
			own.Drives = append(own.Drives, drive)
			drives[drive.Name] = true
		} else {
			others[topology.HostOf(drive.Machine)] = true
		}
	}
	if others[host] || d.mean(ScrubReads) > 0 {
		return part, false
	}
	at := func(database string) bool { return topology.HostOf(database) == host }
	for _, file := range d.Machine.Files {
		if at(file.Database) {
			own.Files = append(own.Files, file)
		}
	}
	part = Drives{Machine: &own, From: d.From, To: d.To}
	var columns []int
	for i, name := range d.Counters.Columns {
		column, item := SplitColumn(name)
		group, _, _ := strings.Cut(column, ".")
		ofServer := (group == "db" || group == "server") && at(item)
		known = known || ofServer
		if ofServer || drives[item] {
			columns = append(columns, i)
			part.Counters.Columns = append(part.Counters.Columns, name)
		}
	}
	for _, row := range d.Counters.Rows {
		part.Counters.Rows = append(part.Counters.Rows, row.selectValues(columns))
	}
	return part, known
}

// selectValues is the row with some of its values.
func (r Row) selectValues(columns []int) Row {
	some := Row{Time: r.Time}
	for _, i := range columns {
		some.Values = append(some.Values, r.Values[i])
		if r.Covers != nil {
			some.Covers = append(some.Covers, r.Covers[i])
		}
	}
	return some
}
