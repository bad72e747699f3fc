/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Labels of PCI functions: pci-<vendor>.present, pci-<fields>.present, pci-<fields>.sriov.capable
 * (design 4; spec nfd.md 2.5).
 */
#pragma once

#include "scan/pci_bus.h"
#include "scan/scanner.h"

extern const struct nfd_scanner nfd_pci_scanner;

/* Names that sources.pci.deviceLabelFields takes, in the order they have in a key. */
#define NFD_PCI_FIELDS 5
#define NFD_PCI_FIELD_VENDOR 1
extern const char *const nfd_pci_field_names[NFD_PCI_FIELDS + 1]; /* NULL-terminated */

/**
 * nfd_pci_format_field() - an id of a function as four hexadecimal digits.
 * @field: position in nfd_pci_field_names.
 */
void nfd_pci_format_field(const struct nfd_pci_function *function, size_t field, char ret[8]);

/**
 * nfd_pci_is_white_listed() - whether the class of a function is on the list.
 * @options:  prefixes of the four hex digits of class and subclass.
 * @function: class_code is read.
 */
bool nfd_pci_is_white_listed(const struct nfd_scan_options *options,
			     const struct nfd_pci_function *function);

/**
 * nfd_pci_is_vendor_key() - whether a key is "<prefix>pci-<4 hex digits>.present".
 */
bool nfd_pci_is_vendor_key(const char *key);

#define NFD_PCI_KEYS 3
#define NFD_PCI_KEY_SIZE 96

/**
 * nfd_pci_function_keys() - the label keys that a function of a white-listed class gives.
 * @options:  label fields.
 * @function: ids and has_sriov are read.
 * @ret:      receives full keys: the vendor's, that of the fields, and the one of SR-IOV.
 * Return: number of keys: 2, or 3 with SR-IOV.
 */
size_t nfd_pci_function_keys(const struct nfd_scan_options *options,
			     const struct nfd_pci_function *function,
			     char ret[NFD_PCI_KEYS][NFD_PCI_KEY_SIZE]);
