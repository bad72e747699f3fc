#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# From a fresh machine to the labels of this machine in one command: installs what the build needs, builds, scans, and
# shows the feature file. It changes nothing but packages and the folder build/ in this tree. A second run takes seconds.
#
#     sudo deploy/quickstart.sh
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
log=$top/build/quickstart.log
program=$top/build/nfd-source/nfd-source

say() {
	printf '%s\n' "$*" >&2
}

fail() {
	say "quickstart: $*"
	exit 1
}

heading() {
	printf '\n=== %s\n\n' "$*"
}

has() {
	command -v "$1" >/dev/null 2>&1
}

# Names what the build still lacks, one word each. configure checks the same libraries, with the same least versions.
missing() {
	for tool in autoconf automake make pkg-config; do
		has "$tool" || echo "$tool"
	done
	has cc || has gcc || has clang || echo cc
	if has pkg-config; then
		for library in 'libpci >= 3.8.0' 'libudev >= 245' 'yaml-0.1 >= 0.2.2' 'libcjson >= 1.7.13' \
			'libpcre2-8 >= 10.32' 'libdeflate >= 1.10' 'libcurl >= 7.77.0'; do
			pkg-config --exists "$library" || echo "${library%% *}"
		done
	fi
	[ -e /usr/include/linux/openat2.h ] || echo linux/openat2.h
	# Names of PCI devices: the scan works without them.
	[ -e /usr/share/misc/pci.ids ] || [ -e /usr/share/misc/pci.ids.gz ] || [ -e /usr/share/hwdata/pci.ids ] ||
		[ -e /usr/share/hwdata/pci.ids.gz ] || echo pci.ids
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

install_packages() {
	if has apt-get; then
		as_root apt-get update
		as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
			build-essential autoconf automake pkg-config libpci-dev libudev-dev libyaml-dev libcjson-dev \
			libpcre2-dev libdeflate-dev libcurl4-openssl-dev pci.ids linux-libc-dev
	elif has dnf; then
		as_root dnf install -y gcc make autoconf automake pkgconf-pkg-config pciutils-devel systemd-devel \
			libyaml-devel cjson-devel pcre2-devel libdeflate-devel libcurl-devel hwdata kernel-headers diffutils
	elif has apk; then
		as_root apk add build-base autoconf automake pkgconf pciutils-dev eudev-dev yaml-dev cjson-dev pcre2-dev \
			libdeflate-dev curl-dev hwdata-pci linux-headers
	fi
}

# Runs a step with its output in the log; when it fails, the end of that is shown.
step() {
	say "$1 ..."
	shift
	"$@" >>"$log" 2>&1 && return 0
	tail -n 25 "$log" >&2
	fail "that failed; the whole output is in $log"
}

# Under sudo the tree may belong to a person, who should be able to build in it afterwards.
as_owner() {
	owner=$(stat -c %u "$top")
	if [ "$(id -u)" -eq 0 ] && [ "$owner" -ne 0 ] && has sudo; then
		sudo -u "#$owner" -- "$@"
	else
		"$@"
	fi
}

configure_tree() {
	(cd "$top/build" && as_owner ../configure)
}

cd "$top"
as_owner mkdir -p "$top/build"
rm -f "$log"
as_owner touch "$log"

lacking=$(missing | tr '\n' ' ')
if [ -n "$lacking" ]; then
	has apt-get || has dnf || has apk ||
		fail "missing: $lacking; there is no apt-get, dnf or apk here, so please install them yourself"
	[ "$(id -u)" -eq 0 ] || has sudo || fail "missing: $lacking; run this as root to have them installed"
	step "Installing packages (missing: ${lacking% })" install_packages
fi
if [ ! -x "$top/configure" ] || [ ! -e "$top/Makefile.in" ]; then
	step "Making configure" as_owner "$top/autogen.sh"
fi
if [ ! -e "$top/build/Makefile" ]; then
	step "Configuring in build/" configure_tree
fi
jobs=$(nproc 2>/dev/null || echo 1)
step "Building" as_owner make -C "$top/build" -j "$jobs"

heading "The hardware of this machine and the labels it gives"
"$program" -q scan -o table
heading "The feature file for NFD that it would write"
"$program" -q scan -o feature-file

cat <<END

=== Next

$program help
    all commands
sudo make -C $top/build install
    installs the program, its man pages and systemd units
sudo nfd-source publish
    writes the feature file once, where NFD's features.d exists
sudo systemctl enable --now nfd-source
    runs the daemon
END
