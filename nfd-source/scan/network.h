/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Network interfaces: network-sriov.*, as NFD's network source (spec nfd.md 2.4), and the raw
 * features network.device and network.virtual (spec nfd.md 3).
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_network_scanner;
