/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's uevent file of a PCI function: class, ids, subsystem, driver in one small read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"

struct nfd_pci_uevent {
	uint32_t class_code; /* 24 bits: class, subclass, programming interface */
	uint16_t vendor, device, subsystem_vendor, subsystem_device;
	char driver[64]; /* "" when unbound */
	bool has_class, has_ids;
};

/**
 * nfd_uevent_parse_pci() - read the lines of /sys/bus/pci/devices/<address>/uevent.
 * @text: lines "PCI_CLASS=30200" (hex), "PCI_ID=10DE:27B8", "PCI_SUBSYS_ID=10DE:16EE",
 *        "DRIVER=nvidia"; others are passed over, malformed ones too. NUL-terminated.
 * @ret:  overwritten; @ret->has_class and @ret->has_ids tell what was there.
 */
void nfd_uevent_parse_pci(const char *text, struct nfd_pci_uevent *ret);
