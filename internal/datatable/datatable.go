// Package datatable reads the tables that stand beside the code as data, such as the kinds of
// findings.
package datatable

import "strings"

// Rows are those of a table, whose fields are parted by tabs. A line that begins with # is a
// comment; fields at the end may be left out.
func Rows(table string, fields int) (rows [][]string) {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		row := make([]string, fields)
		copy(row, strings.Split(strings.TrimSpace(line), "\t"))
		rows = append(rows, row)
	}
	return rows
}
