#!/bin/bash
# Compares ds2 load with the classic flow on one PostgreSQL server: files on disk, psql \copy one after the other, the
# index script, ANALYZE. Both by turns, PAIRS times; prints each time and the median ratio. Writing the files is not
# part of the classic time, though ds2 load generates its rows while it loads.
#
#   scripts/load-vs-classic.sh postgres://user:password@host:5432 M 3
#
# Makes and drops the databases ds2_classic and ds2_load there. Needs psql, bin/ds2 and room for the files in TMPDIR.
set -euo pipefail
server=${1:?URL of the server, without a database}
size=${2:-M}
pairs=${3:-3}
ds2=$(dirname "$0")/../bin/ds2
files=$(mktemp -d)/dataset
trap 'rm -rf "$(dirname "$files")"; drop ds2_classic; drop ds2_load' EXIT

sql() { psql -q -v ON_ERROR_STOP=1 -o /dev/null "$server/$1" "${@:2}"; }
drop() { sql postgres -c "SET client_min_messages = error" -c "DROP DATABASE IF EXISTS $1" -c CHECKPOINT; }

classic() {
	"$ds2" schema --phase database --database-name ds2_classic | sql postgres
	"$ds2" schema --phase tables | sql ds2_classic
	for file in us_cust row_cust; do sql ds2_classic -c "\\copy customers FROM '$files/$file.csv' CSV"; done
	for month in jan feb mar apr may jun jul aug sep oct nov dec; do
		for table in orders orderlines cust_hist; do
			sql ds2_classic -c "\\copy $table FROM '$files/${month}_$table.csv' CSV"
		done
	done
	sql ds2_classic -c "\\copy products FROM '$files/prod.csv' CSV" -c "\\copy inventory FROM '$files/inv.csv' CSV"
	"$ds2" schema --phase indexes | grep -v ^VACUUM | sql ds2_classic # which no classic flow has
	sql ds2_classic -c ANALYZE
}

load() { "$ds2" load --quiet --target "$server/ds2_load" --size "$size" >/dev/null; }

seconds() { # seconds COMMAND: how long it takes
	local start=$EPOCHREALTIME
	"$@"
	echo "$EPOCHREALTIME - $start" | bc
}

"$ds2" generate --size "$size" --out "$files" >/dev/null
for ((pair = 1; pair <= pairs; pair++)); do
	drop ds2_classic
	drop ds2_load
	a=$(seconds classic)
	drop ds2_classic
	b=$(seconds load)
	ratio=$(echo "scale=3; $b / $a" | bc)
	echo "classic $a s, ds2 load $b s, ratio $ratio" >&2
	echo "$ratio"
done | sort -n | awk '{ r[NR] = $1 } END { print "median ratio", (r[int((NR + 1) / 2)] + r[int((NR + 2) / 2)]) / 2 }'
