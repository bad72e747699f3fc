#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the Debian package from a tarball ("make dist") and prints the files that it made.
#
#     deploy/debian/build.sh TARBALL [OUT]        default of OUT: the current folder
#
# The tarball has this folder as deploy/debian; debian/ is put beside the sources only here, so that other distributions
# do not find it. The unit tests run in the build: DEB_BUILD_OPTIONS=nocheck leaves them out. "dpkg-checkbuilddeps
# deploy/debian/control" says what the build needs and this machine lacks.
set -eu

if [ $# -lt 1 ]; then
	sed -n '/^#     /s/^# *//p' "$0" >&2
	exit 2
fi
tarball=$(realpath "$1")
out=$(realpath "${2:-.}")
work=$(mktemp -d "$out/build.XXXXXX")
trap 'rm -rf "$work"' EXIT

tar -C "$work" -xf "$tarball"
tree=$(echo "$work"/*)
cp -r "$tree/deploy/debian" "$tree/debian"
rm "$tree/debian/build.sh"
version=$(dpkg-parsechangelog -l "$tree/debian/changelog" -S Version)
if [ "${tree##*/}" != "nfd-source-${version%-*}" ]; then
	echo "build.sh: the changelog is of version $version, the tarball of ${tree##*/}" >&2
	exit 1
fi
cp "$tarball" "$work/nfd-source_${version%-*}.orig.tar.xz"
(cd "$tree" && dpkg-buildpackage -us -uc) >&2
find "$work" -maxdepth 1 -type f -printf "$out/%f\n" -exec mv -t "$out" {} +
