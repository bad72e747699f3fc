#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes the example feature files anew from the fixture machines. They have no expiry line (lifetime 0), so that they can
# be compared; a file that the program writes has one. The program is $NFD_SOURCE_BIN, else the one in build/.
#
#     features.d/update.sh [FOLDER]       default: this folder
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:-$top/features.d}
program=${NFD_SOURCE_BIN:-$top/build/nfd-source/nfd-source}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for machine in amd-mi300 server-h100-8 server-l4 server-mismatch; do
	python3 -B "$top/tests/lib/mktree.py" "$top/tests/fixtures/machines/$machine.tree" "$work/$machine" >"$work/log"
	"$program" --config /dev/null --root "$work/$machine" --set outputs.featureFile.lifetime=0 -q \
		scan -o feature-file >"$work/feature-file"
	cp "$work/feature-file" "$folder/$machine"
done
