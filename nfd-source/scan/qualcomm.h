/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scanner of Qualcomm Cloud AI accelerators.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_qualcomm_scanner;
