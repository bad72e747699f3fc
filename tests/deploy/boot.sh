#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Boots the system in a folder with systemd as its first process: boot.sh ROOT CGROUP
# systemd-nspawn needs a cgroup2 hierarchy at its place, whatever this host has there, and leaves traces in /run and in
# its cgroup. So it gets all of that for itself, and it ends with us: when we are killed, so is everything in there. Its
# own filter of system calls lacks Landlock, and BPF, by which systemd closes devices; a machine has both.
set -eu
root=$1 cgroup=$2

mount -t tmpfs tmpfs /run
mkdir /run/cgroup
mount -t cgroup2 cgroup2 /run/cgroup
mkdir "/run/cgroup/$cgroup"
echo $$ >"/run/cgroup/$cgroup/cgroup.procs"
# shellcheck disable=SC2016
exec unshare --mount --cgroup --pid --fork --kill-child --mount-proc sh -euc '
	umount --recursive --lazy /sys/fs/cgroup
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	exec systemd-nspawn --quiet --boot --directory="$0" --machine=nfd-source-test --register=no --keep-unit \
		--private-network --console=pipe --settings=no --link-journal=no --resolv-conf=off --timezone=off \
		--system-call-filter="bpf landlock_create_ruleset landlock_add_rule landlock_restrict_self"
' "$root"
