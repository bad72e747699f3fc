/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the scanners of accelerators have in common: "<stem>=true", "<stem>.count" and, where ids
 * tell it, which model they are.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scan/scanner.h"

/* A model known by its PCI ids. */
struct nfd_accelerator_model {
	uint16_t device;
	uint16_t subsystem_device; /* 0: any */
	const char *name;          /* legal label value */
};

struct nfd_accelerator {
	const struct nfd_scanner
		*scanner; /* its functions, see nfd_pci_matches(), are the devices */
	const char *stem; /* full key without ending: NFD_F "aws-neuron" */
	const char *fact; /* name of the model's label: "generation"; NULL: none */
	const struct nfd_accelerator_model *model; /* array of @model_count */
	size_t model_count;
	bool functions_share_card; /* functions that differ in their number alone are one card */
};

/**
 * nfd_accelerator_labels() - add the labels of a kind of accelerator.
 * @scan: receives "<stem>" = "true" when a function is there at all; "<stem>.count", the physical
 *        ones that answer (not written when there is none); "<stem>.<fact>" = name when all of
 *        these are of one known model, else "<stem>.<fact>.<name>.count" for each known one. All is
 *        decided from ids that nfd_pci_bus_get() read.
 */
void nfd_accelerator_labels(struct nfd_scan *scan, const struct nfd_accelerator *accelerator);
