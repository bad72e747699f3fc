/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every PCI function as nfd-worker's raw feature pci.device (spec nfd.md 2.5 and 3).
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_pci_device_scanner;
