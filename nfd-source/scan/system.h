/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The raw features of NFD's system source: system.name, system.osrelease, system.dmiid (spec nfd.md
 * 3). Its labels are those of scan/os_release.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_system_scanner;
