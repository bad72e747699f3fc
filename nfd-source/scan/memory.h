/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory: memory-numa, memory-swap, memory-nv.*, as NFD's memory source (spec nfd.md 2.3), and the
 * raw features memory.numa, memory.swap, memory.nv, memory.hugepages (spec nfd.md 3).
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_memory_scanner;
