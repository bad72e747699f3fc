#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Measure us beside the real peers in one run; prints a table and writes it as JSON.
# Usage: tests/bench/run.sh [--rest-seconds N] [--json FILE] [ROW...]; rows: see bench.py.
set -eu
cd "$(dirname "$0")/../.."
[ -x build/nfd-source/nfd-source ] || tests/run.sh unit >/dev/null
nfd=$(tests/e2e/build-tools.sh nfd)
nvidia=$(tests/e2e/build-tools.sh nvidia)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in nfd-source nfd-source-api nfd-source-nvml; do
	strip -o "$work/$program" "build/nfd-source/$program"
done
for tool in bare_loop measure; do
	"${CC:-gcc}" -O2 -D_GNU_SOURCE -Ibuild -o "$work/$tool" "tests/bench/$tool.c"
done
python3 tests/bench/bench.py --work "$work" --nfd "$nfd" --nvidia "$nvidia" "$@"
