package main

import (
	_ "embed"

	"ds2/internal/datatable"
)

var (
	//go:embed names.tsv
	nameTable string

	aliases       = readNames("ds2")
	meant         = readNames("meant")
	meantByLetter = readNames("letter")
	recorded      = readNames("record")
	dvdStore3     = readNames("dvdstore3")
	profiles      = readNames("profile")
)

// readNames reads what the names of one kind in names.tsv stand for.
func readNames(kind string) map[string]string {
	names := map[string]string{}
	for _, row := range datatable.Rows(nameTable, 3) {
		if row[0] == kind {
			names[row[1]] = row[2]
		}
	}
	return names
}
