/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scanner of Google TPUs.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_tpu_scanner;
