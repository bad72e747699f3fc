/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NFD's local source: what other programs say in the feature files of features.d (spec nfd.md 1). Read
 * only in nfd-worker's place, where nobody else would.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_local_scanner;
