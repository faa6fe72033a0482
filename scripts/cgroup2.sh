#!/bin/bash
# Runs the tests that put a process into a real control group on a kernel that has version 2 of them, for machines that have version 1,
# and the one that makes RAID 5 of drives: in a virtual machine of Debian's kernel, BusyBox and the tests. Nothing is installed. Needs
# qemu-system-x86_64 and apt-get.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir"/initial/{bin,proc,sys,dev,tmp,run,lib64}
CGO_ENABLED=0 "${GO:-go}" test -c -o "$dir/initial/sampling.test" ./internal/sampling
(
	cd "$dir"
	# The kernel's package with its version in the name, which linux-image-cloud-amd64 depends on.
	apt-get download -qq "$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)" busybox-static mdadm libudev1 libc6
	for package in *.deb; do dpkg-deb -x "$package" packages; done
	cp packages/bin/busybox initial/bin/
	ln -s busybox initial/bin/sh
	cp packages/sbin/mdadm initial/bin/
	cp packages/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 initial/lib64/
	find packages -name 'libc.so.6' -o -name 'libudev.so.1*' | xargs -I{} cp {} initial/lib64/
	modules=$(basename packages/lib/modules/*)
	for part in arch/x86/crypto crypto lib drivers/md drivers/block/loop.ko; do
		mkdir -p "initial/lib/modules/$modules/$(dirname "$part")"
		cp -r "packages/lib/modules/$modules/kernel/$part" "initial/lib/modules/$modules/$(dirname "$part")/"
	done
	./packages/bin/busybox depmod -b initial "$modules"
	cat >initial/init <<'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
$b mount -t cgroup2 cgroup2 /sys/fs/cgroup
export PATH=/bin HOME=/tmp LD_LIBRARY_PATH=/lib64
$b modprobe raid456
for n in 0 1 2; do
	$b truncate -s 32M /tmp/$n
	$b modprobe loop
	$b losetup /dev/loop$n /tmp/$n
done
export DS2_TEST_RAID='loop0 loop1 loop2'
/sampling.test -test.run 'TestRealGroup|TestRealRAID' -test.v && echo 'all passed'
$b poweroff -f
INIT
	chmod 755 initial/init
	(cd initial && find . | ./bin/busybox cpio -o -H newc 2>/dev/null | gzip -1) >initrd
	timeout 600 qemu-system-x86_64 -nodefaults -no-user-config -display none -no-reboot -machine pc,accel=tcg -m 512 -kernel packages/boot/vmlinuz-* -initrd initrd \
		-append 'console=ttyS0 panic=-1 mitigations=off no_timer_check random.trust_cpu=on' -serial file:console.log
	tr -d '\r' <console.log | grep -aE '(processes|raid)_linux_test|^(---|===) |all passed' || tail -n 20 console.log
	grep -aq -e '--- PASS: TestRealGroup' console.log && grep -aq -e '--- PASS: TestRealRAID' console.log
)
