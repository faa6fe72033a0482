#!/bin/bash
# Makes the tutorial's example, docs/examples/afternoon, anew: two arrays in memory that are held to 600 and 1,500 reads
# a second, a PostgreSQL with direct I/O on each, and the steps of docs/tutorial.md. As root, with control groups of
# version 1; it takes an hour. Prints the first screen; whatever it starts, it stops.
#
#	scripts/afternoon.sh [BLOCKS [WARMUP [RUN]]]
#
# PG_BIN names the server's programs; else the newest that ds2 has fetched, or that is installed.
set -euo pipefail
blocks=${1:-6} warmup=${2:-40s} run=${3:-90s}
top=$(realpath "$(dirname "$0")/..")
bin=${PG_BIN:-$(ls -d /usr/lib/postgresql/*/bin /var/cache/ds2/postgresql-*/bin 2>/dev/null | sort -t- -k2V | tail -1)}
D=$(mktemp -d /dev/shm/ds2-afternoon.XXXXXX)
limit=/sys/fs/cgroup/blkio/blkio.throttle.read_iops_device
export PATH=$top/bin:$PATH
chmod 755 "$D"

stop() {
	for name in hdd ssd; do
		[ ! -e "$D/$name/drive/data/postmaster.pid" ] || server "$name" stop --mode=fast || true
		umount "$D/$name/drive" 2>/dev/null || true
		for level in upper lower; do
			[ ! -s "$D/$name/$level" ] || losetup --detach "$(cat "$D/$name/$level")" || true
			[ $level = lower ] || umount "$D/$name/below" 2>/dev/null || true
		done
		[ ! -s "$D/$name/number" ] || echo "$(cat "$D/$name/number") 0" >"$limit" || true
	done
	rm -rf "$D"
}
trap stop EXIT

as_postgres() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }

server() { # NAME COMMAND…
	as_postgres "$bin/pg_ctl" --pgdata="$D/$1/drive/data" --log="$D/$1/drive/log" "${@:2}" >/dev/null
}

# The kernel counts what the upper drive does and how long it takes, as of any drive; the control group of its worker,
# which is the root's, holds the lower one back.
array() { # NAME READS PORT
	local name=$1 reads=$2 port=$3 lower
	mkdir -p "$D/$name"/{below,drive}
	truncate --size=5G "$D/$name/image"
	losetup --find --show "$D/$name/image" >"$D/$name/lower"
	lower=$(cat "$D/$name/lower")
	mkfs.ext4 -q "$lower"
	mount "$lower" "$D/$name/below"
	truncate --size=4G "$D/$name/below/image"
	losetup --find --show --direct-io=on "$D/$name/below/image" >"$D/$name/upper"
	mkfs.ext4 -q "$(cat "$D/$name/upper")"
	mount "$(cat "$D/$name/upper")" "$D/$name/drive"
	cat "/sys/class/block/$(basename "$lower")/dev" >"$D/$name/number"
	mkdir "$D/$name/drive/data"
	chown -R postgres:postgres "$D/$name/drive"
	as_postgres "$bin/initdb" --pgdata="$D/$name/drive/data" --username=ds2 --auth=trust >/dev/null
	cat >>"$D/$name/drive/data/postgresql.conf" <<-END
		port = $port
		unix_socket_directories = ''
		debug_io_direct = data
		shared_buffers = 100MB
		checkpoint_timeout = 30s
		track_io_timing = on
		track_wal_io_timing = on
		max_wal_size = 2GB
		shared_preload_libraries = 'pg_stat_statements'
	END
	echo 'CREATE DATABASE ds2' | as_postgres "$bin/postgres" --single -D "$D/$name/drive/data" postgres >/dev/null
	server "$name" start --wait
	ds2 load --target "postgres://ds2@127.0.0.1:$port/ds2" --size 300MB
	# What is removed leaves space in the indexes, more of it where more was ordered, so each run gets a copy.
	ds2 snapshot create --target "postgres://ds2@127.0.0.1:$port/ds2"
	echo "$(cat "$D/$name/number") $reads" >"$limit"
	ds2 device --dir "$D/$name/drive" --file-size 1GB --stage-time 5s --out "$D/$name.json"
}

make -C "$top" build
array hdd 600 6101
array ssd 1500 6102
cd "$D"
cat >afternoon.yaml <<END
# Two emulated arrays, which do 600 and 1,500 reads a second.
configurations:
  hdd:
    target: postgres://ds2@127.0.0.1:6101/ds2
    device-record: hdd.json
    labels: {drives: emulated}
    disclosure: {array: loop device, firmware: none, raid: none, cache: none, compression: none, file-system: ext4, price: ""}
  ssd:
    target: postgres://ds2@127.0.0.1:6102/ds2
    device-record: ssd.json
    labels: {drives: emulated}
    disclosure: {array: loop device, firmware: none, raid: none, cache: none, compression: none, file-system: ext4, price: ""}
threads: 8
restore: snapshot
warmup-time: $warmup
run-time: $run
idle: 2s
cooldown: 2s
settle: 0s
runs: $blocks
seed: 42
END
ds2 preflight afternoon.yaml || true
ds2 experiment afternoon.yaml
ds2 report --output text ds2-results/afternoon
example=$top/docs/examples/afternoon
rm -rf "$example"
for name in hdd ssd; do
	median=$(sed -n 's/^ *"median": "\(.*\)",$/\1/p' "ds2-results/afternoon/$name/summary.json")
	mkdir -p "$example/$name"
	cp -r "ds2-results/afternoon/$name/summary.json" "ds2-results/afternoon/$name/$median" "$example/$name/"
done
cp ds2-results/afternoon/summary.json "$example/"
find "$example" -name report.html -delete
