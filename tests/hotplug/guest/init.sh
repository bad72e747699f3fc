#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# First process of the guest: the probe on the second serial port, then one command a line from the first, among them
# "start" for the daemon. After each command a line "done STATUS". No udevd runs here unless the image brings one.
export PATH=/bin:/sbin

start() {
	# shellcheck disable=SC2046 # one word a setting
	nfd-source $(cat /settings) "$@" run >/run/daemon.log 2>&1 </dev/null &
}

/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mkdir -p /run /features.d
mount -t tmpfs tmpfs /run
hostname guest
stty -echo raw
if [ -x /sbin/udevd ]; then
	/sbin/udevd >/run/udevd.log 2>&1 &
	for _ in 1 2 3 4 5 6 7 8 9 10; do [ -e /run/udev/control ] || sleep 1; done
fi
stty -F /dev/ttyS1 raw -echo
probe /features.d >/dev/ttyS1 2>&1 &
echo "ready"
while read -r line; do
	eval "$line"
	echo "done $?"
done
poweroff -f
