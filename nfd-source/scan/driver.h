/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Versions that loaded kernel modules state: driver-<module>.version.*.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_driver_scanner;
