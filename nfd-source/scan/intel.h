/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scanner of labels of Intel's rules for GPUs, NPUs and accelerators.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_intel_scanner;
