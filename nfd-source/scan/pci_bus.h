/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions on the PCI bus, read once a scan from sys/bus/pci/devices and shared by the
 * scanners that need them. Never opens config space (field case B4).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "scan/scanner.h"

#define NFD_PCI_DEVICES "sys/bus/pci/devices"
#define NFD_PCI_ADDRESS_SIZE 24

struct nfd_pci_function {
	uint32_t domain; /* full width: Intel VMD has 10000 and up (field case B1) */
	uint8_t bus, device_number, function_number;
	bool white_listed; /* class is on sources.pci.deviceClassWhitelist */
	bool is_gpu;       /* see nfd_gpu_is_accelerator() */
	bool is_wanted;    /* some scanner looks at it: struct nfd_scanner.functions */
	bool is_virtual;   /* has a physfn link; looked up for GPUs and wanted ones only */
	bool has_sriov;    /* sriov_totalvfs is readable; looked up for white-listed ones only */
	bool is_unresponsive; /* ids or class read as all ones, or power_state is "error"; as is_virtual */
	uint32_t class_code; /* 24 bits */
	uint16_t vendor, device, subsystem_vendor, subsystem_device;
	char driver[64]; /* "" when unbound */
};

struct nfd_pci_bus {
	struct nfd_pci_function *function; /* array of @count, sorted by address; owned */
	size_t count; /* those that matter; all with scan->all_devices and for NFD's raw features */
	size_t seen;  /* entries with a PCI address */
	bool is_unknown; /* its directory could not be read */
};

/**
 * nfd_pci_bus_get() - the functions of this scan, read at the first call.
 * @scan: receives unknown facts (keys "pci-" and "gpu-") and @scan->incomplete.
 * Return: borrowed from @scan; without functions when the bus is absent or unknown; NULL when
 *         memory ran out.
 */
const struct nfd_pci_bus *nfd_pci_bus_get(struct nfd_scan *scan);

/**
 * nfd_pci_matters() - whether a function gives labels, or is one that some scanner looks at.
 */
bool nfd_pci_matters(const struct nfd_pci_function *function);

/**
 * nfd_pci_matches() - whether a function is one of a scanner's.
 * @match: array of @count.
 * @function: class_code, vendor and device are read.
 */
bool nfd_pci_matches(const struct nfd_pci_match *match, size_t count,
		     const struct nfd_pci_function *function);

/**
 * nfd_pci_count() - the functions of this scan that are a scanner's.
 * @virtual_too: count virtual functions as well.
 */
unsigned int nfd_pci_count(struct nfd_scan *scan, const struct nfd_scanner *scanner,
			   bool virtual_too);

/**
 * nfd_pci_read_line() - an attribute of a function, trimmed (sys/bus/pci/devices/<address>/<attribute>).
 * Return: as nfd_root_read_line().
 */
ssize_t nfd_pci_read_line(const struct nfd_root *root, const struct nfd_pci_function *function,
			  const char *attribute, char *buf, size_t size) nfd_must_check;

/**
 * nfd_pci_bus_free() - free; NULL is fine.
 */
void nfd_pci_bus_free(struct nfd_pci_bus *bus);

/**
 * nfd_pci_parse_address() - "10000:01:00.0" into numbers.
 * @text: 4 to 8 hex digits of domain, 2 of bus, 2 of device (at most 1f), 1 of function (at most 7).
 * @ret:  the four address fields are set; others untouched.
 * Return: 0; -EINVAL.
 */
int nfd_pci_parse_address(const char *text, struct nfd_pci_function *ret) nfd_must_check;

/**
 * nfd_pci_format_address() - the address as sysfs writes it.
 */
void nfd_pci_format_address(const struct nfd_pci_function *function,
			    char ret[NFD_PCI_ADDRESS_SIZE]);
