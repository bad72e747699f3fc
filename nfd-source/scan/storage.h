/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Block devices: storage-nonrotationaldisk, as NFD's storage source (spec nfd.md 2.7), and the raw
 * feature storage.block (spec nfd.md 3).
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_storage_scanner;
