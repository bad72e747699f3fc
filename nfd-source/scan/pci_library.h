/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libpci's view of the functions that matter: names from pci.ids, NUMA node, physical slot. For
 * people (scan -o table); the scan itself does not need it.
 */
#pragma once

#include "base/root.h"
#include "scan/pci_bus.h"

struct nfd_pci_library;

struct nfd_pci_description {
	char device[192]; /* "NVIDIA Corporation AD104GL [L4]"; the ids where the name is unknown */
	char class_name[96]; /* "3D controller" */
	int numa_node;       /* -1 when there is none */
	char slot[48];       /* physical slot, "" when unknown */
};

/**
 * nfd_pci_library_open() - start libpci on the sysfs of a root.
 * @root: borrowed, must outlive the library.
 * @ret:  receives it; owner: caller, nfd_pci_library_close().
 * @err:  libpci's own words.
 * Return: 0; -ENOENT without a PCI bus; -EIO when libpci gave up; -ENOMEM.
 */
int nfd_pci_library_open(const struct nfd_root *root, struct nfd_pci_library **ret,
			 struct nfd_error *err) nfd_must_check;

/**
 * nfd_pci_library_describe() - describe one function.
 * @library:  NULL gives ids only.
 * @function: from nfd_pci_bus_get().
 * @ret:      filled in any case.
 * Return: 0; -EIO when libpci gave up on this one (it vanished): names are still there.
 */
int nfd_pci_library_describe(struct nfd_pci_library *library,
			     const struct nfd_pci_function *function,
			     struct nfd_pci_description *ret);

/**
 * nfd_pci_library_model() - name of a device in pci.ids, without its vendor's: "AD104GL [L4]".
 * @function: vendor and device are read; no file of the device is opened.
 * @ret:      receives the name, cut at @size - 1 bytes; "" when pci.ids has none or is not there.
 */
void nfd_pci_library_model(struct nfd_pci_library *library, const struct nfd_pci_function *function,
			   char *ret, size_t size);

/**
 * nfd_pci_library_close() - free; NULL is fine.
 */
void nfd_pci_library_close(struct nfd_pci_library *library);
