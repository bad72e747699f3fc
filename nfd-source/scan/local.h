/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NFD's local source: what other programs say in the feature files of features.d (spec nfd.md 1). Read
 * only in nfd-worker's place, where nobody else would.
 *
 * Reads the regular files of struct nfd_scan_options.local, not below the root: links are followed, names
 * with a dot in front and our own file are passed over, and so is a file over 64 KiB. Gives the raw
 * features local.label and local.feature, with keys as they are written, and the labels of the former that
 * an API server and nfd-master take. A key without a slash gets NFD's prefix as nfd-master has it, and
 * counts only where nothing else states the key in full.
 *
 * A folder or file that is not there says nothing, nor does a file that we have no right to read: it has never
 * said anything. One that cannot be read for another reason makes all labels unknown (prefix ""): nobody
 * knows which it would have given, or changed.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_local_scanner;
