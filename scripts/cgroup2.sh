#!/bin/bash
# Runs the tests that put a process into a real control group on a kernel that has version 2 of them, for machines that have version 1:
# in a virtual machine of Debian's kernel, BusyBox and the tests. Nothing is installed. Needs qemu-system-x86_64 and apt-get.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"/initial/{bin,proc,sys,dev,tmp}
CGO_ENABLED=0 "${GO:-go}" test -c -o "$dir/initial/sampling.test" ./internal/sampling
(
	cd "$dir"
	# The kernel's package with its version in the name, which linux-image-cloud-amd64 depends on.
	apt-get download -qq "$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)" busybox-static
	for package in *.deb; do dpkg-deb -x "$package" packages; done
	cp packages/bin/busybox initial/bin/
	ln -s busybox initial/bin/sh
	cat >initial/init <<'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
$b mount -t cgroup2 cgroup2 /sys/fs/cgroup
export PATH=/bin HOME=/tmp
/sampling.test -test.run 'TestRealGroup' -test.v && echo 'all passed'
$b poweroff -f
INIT
	chmod 755 initial/init
	(cd initial && find . | ./bin/busybox cpio -o -H newc 2>/dev/null | gzip -1) >initrd
	timeout 300 qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -machine pc,accel=tcg -m 512 -kernel packages/boot/vmlinuz-* -initrd initrd \
		-append 'console=ttyS0 panic=-1 mitigations=off no_timer_check random.trust_cpu=on' -serial file:console.log
	tr -d '\r' <console.log | grep -aE 'processes_linux_test|^(---|===) |all passed' || tail -n 20 console.log
	grep -aq -e '--- PASS: TestRealGroup' console.log
)
