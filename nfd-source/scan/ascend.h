/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scanner of Huawei Ascend accelerators.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_ascend_scanner;
