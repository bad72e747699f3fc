/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts of GPUs and accelerators by vendor, driver and device id (design 4).
 */
#pragma once

#include "scan/pci_bus.h"
#include "scan/scanner.h"

extern const struct nfd_scanner nfd_gpu_scanner;

/**
 * nfd_gpu_is_accelerator() - whether a PCI function is a GPU or accelerator: class 1200 of any
 * vendor; class 0300, 0302 or 0380 of a vendor that makes GPUs. The display adapters of management
 * controllers, clouds and hypervisors are none, whatever their class says (spec gpu-stack.md 3.3).
 * @function: class_code and vendor are read.
 */
bool nfd_gpu_is_accelerator(const struct nfd_pci_function *function);
