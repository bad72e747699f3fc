/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scanner of AMD (Xilinx) Alveo cards.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_alveo_scanner;
