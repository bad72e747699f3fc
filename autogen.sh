#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes configure and Makefile.in from their sources. Run it once after a checkout.
set -eu
cd "$(dirname "$0")"
exec autoreconf --install --warnings=all,no-portability
