#!/bin/sh
# Runs ds2 demo for a long time and looks whether ds2 itself stays as it is: memory, open files, goroutines, and the
# size of the record. All of them are in the record, and drawn in its report.
#
#   scripts/endurance.sh 30m OUT [flag of ds2 demo…]      OUT must not exist
#
# Exit code 0: files and goroutines constant, memory in the last tenth of the run at most MEMORY_GROWTH times that in the
# second (the first is for caches and connections), and the record growing by at most 1 MB an hour.
set -eu
time=$1 out=$2
shift 2
MEMORY_GROWTH=1.2
ds2=${DS2:-bin/ds2}

"$ds2" demo --run-time "$time" --warmup-time 10s --out "$out" --verify audit "$@" >"$out.txt" 2>"$out.log" &
run=$!
trap 'kill -INT $run 2>/dev/null || true' EXIT
wait $run
trap - EXIT
cat "$out.txt"

# The counters of the hours that are over, if there are some, and of the last.
for file in "$out"/host-*.csv.gz "$out"/host.csv.gz; do
	if [ -e "$file" ]; then gzip -dc "$file"; fi
done | awk -F, -v growth=$MEMORY_GROWTH '
	$1 == "t_s" { for (i = 1; i <= NF; i++) column[$i] = i; next }
	$column["client.resident_bytes"] == "" { next }
	{ n++; time[n] = $1; memory[n] = $column["client.resident_bytes"]; record[n] = $column["client.record_bytes"]
	  files[n] = $column["client.open_files"]; routines[n] = $column["client.goroutines"] }
	function range(values, name,    i, low, high) {
		low = high = values[from]
		for (i = from; i <= to; i++) { if (values[i] < low) low = values[i]; if (values[i] > high) high = values[i] }
		printf "%s: %d to %d\n", name, low, high
		return high - low
	}
	function mean(values, first, last,    i, sum) {
		for (i = first; i <= last; i++) sum += values[i]
		return sum / (last - first + 1)
	}
	END {
		from = int(n / 10) + 1; to = int(n * 0.98)
		# A scrape, or the sampling of the database, opens one connection more for a moment.
		if (range(files, "open files") > 4) bad = 1
		if (range(routines, "goroutines") > 16) bad = 1
		early = mean(memory, from, int(n / 5)); late = mean(memory, int(n * 0.9), to)
		printf "memory: %.1f MB in the second tenth of the run, %.1f MB in the last\n", early / 1e6, late / 1e6
		if (late > growth * early) bad = 1
		rate = (record[to] - record[from]) / (time[to] - time[from]) * 3600
		printf "record: %.0f KB, %.2f MB an hour\n", record[to] / 1e3, rate / 1e6
		if (!(rate <= 1e6)) bad = 1
		exit bad
	}'
