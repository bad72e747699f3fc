/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scanner of labels of AMD's node labeller and operator.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_amd_scanner;
