/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scanner of NVIDIA (Mellanox) network adapters: firmware, board, SR-IOV.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_mellanox_scanner;
