#!/bin/sh
# Runs ds2 demo for a long time and looks whether ds2 itself stays as it is: memory, open files, goroutines, and the
# size of the record. All but the last are in the record and its report too.
#
#   scripts/endurance.sh 30m OUT [flag of ds2 demo…]      OUT must not exist
#
# Exit code 0: files and goroutines constant, memory not above MEMORY_GROWTH times what it was after a tenth of the run,
# and the record growing by at most 1 MB an hour.
set -eu
time=$1 out=$2
shift 2
MEMORY_GROWTH=1.5
ds2=${DS2:-bin/ds2}

"$ds2" demo --run-time "$time" --warmup-time 10s --out "$out" --verify audit "$@" >"$out.txt" 2>"$out.log" &
run=$!
trap 'kill -INT $run 2>/dev/null || true' EXIT
echo "s record_bytes" >"$out.sizes"
begin=$(date +%s)
while kill -0 $run 2>/dev/null; do
	sleep 10
	if [ -d "$out" ] && [ ! -e "$out/report.html" ]; then
		echo "$(($(date +%s) - begin)) $(du -bs "$out" | cut -f1)" >>"$out.sizes"
	fi
done
trap - EXIT
wait $run
cat "$out.txt"

# What ds2 was like in the run phase; the first tenth is for caches and connections.
zcat "$out/host.csv.gz" | awk -F, -v growth=$MEMORY_GROWTH '
	NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
	{ n++; memory[n] = $column["client.resident_bytes"]; files[n] = $column["client.open_files"]; routines[n] = $column["client.goroutines"] }
	function range(values, name,    i, low, high) {
		low = high = values[from]
		for (i = from; i <= to; i++) { if (values[i] < low) low = values[i]; if (values[i] > high) high = values[i] }
		printf "%s: %d to %d\n", name, low, high
		return high - low
	}
	END {
		from = int(n / 10) + 1; to = int(n * 0.98)
		bad = 0
		# A scrape, or the sampling of the database, opens one connection more for a moment.
		if (range(files, "open files") > 4) bad = 1
		if (range(routines, "goroutines") > 16) bad = 1
		range(memory, "memory in bytes")
		if (memory[to] > growth * memory[from]) bad = 1
		printf "memory: %.1f MB after a tenth of the run, %.1f MB at the end\n", memory[from] / 1e6, memory[to] / 1e6
		exit bad
	}'
awk 'NR == 2 { s = $1; b = $2 } NR > 1 { t = $1; e = $2 }
	END { rate = (e - b) / (t - s) * 3600 / 1e6; printf "record: %.2f MB an hour\n", rate; exit rate > 1 }' "$out.sizes"
