// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels from the ids of PCI functions alone. Virtual functions and cards that no longer answer
 * show that the hardware is there, but they are not counted, as in gpu-<vendor>.count.
 */
#include "config.h"

#include "scan/accelerator.h"

#include <errno.h>
#include <stdio.h>

#include "scan/pci_bus.h"
#include "scan/tally.h"

static const char *model_of(const struct nfd_accelerator *accelerator,
			    const struct nfd_pci_function *function)
{
	for (size_t i = 0; i < accelerator->model_count; i++) {
		const struct nfd_accelerator_model *model = &accelerator->model[i];

		if (model->device == function->device &&
		    (!model->subsystem_device ||
		     model->subsystem_device == function->subsystem_device))
			return model->name;
	}
	return NULL;
}

static bool share_slot(const struct nfd_pci_function *a, const struct nfd_pci_function *b)
{
	return a->domain == b->domain && a->bus == b->bus && a->device_number == b->device_number;
}

static void add_presence(struct nfd_scan *scan, const char *stem,
			 const struct nfd_pci_function *function)
{
	char address[NFD_PCI_ADDRESS_SIZE], path[64], ids[16];
	const struct nfd_finding finding = {
		.rank = NFD_RANK_ESSENTIAL, .value = "true", .path = path, .detail = ids
	};

	nfd_pci_format_address(function, address);
	snprintf(path, sizeof(path), NFD_PCI_DEVICES "/%s", address);
	snprintf(ids, sizeof(ids), "%04x:%04x", function->vendor, function->device);
	nfd_scan_label(scan, &finding, "%s", stem);
}

static void add_models(struct nfd_scan *scan, const struct nfd_accelerator *accelerator,
		       const struct nfd_tally *models, unsigned int count)
{
	const char *only = nfd_tally_only(models, count);
	const struct nfd_finding finding = { .rank = NFD_RANK_NORMAL,
					     .value = only,
					     .path = NFD_PCI_DEVICES };
	char stem[NFD_LABEL_KEY_SIZE];

	snprintf(stem, sizeof(stem), "%s.%s", accelerator->stem, accelerator->fact);
	if (only)
		nfd_scan_label(scan, &finding, "%s", stem);
	else
		nfd_tally_labels(scan, models, NFD_PCI_DEVICES, stem);
}

void nfd_accelerator_labels(struct nfd_scan *scan, const struct nfd_accelerator *accelerator)
{
	const struct nfd_scanner *scanner = accelerator->scanner;
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(scan);
	const struct nfd_pci_function *first = NULL, *counted = NULL;
	cleanup_tally struct nfd_tally models = { 0 };
	unsigned int count = 0;

	for (size_t i = 0; bus && i < bus->count; i++) {
		const struct nfd_pci_function *function = &bus->function[i];
		const char *model;

		if (!nfd_pci_matches(scanner->functions, scanner->function_count, function))
			continue;
		first = first ? first : function;
		/* The bus is sorted by address: functions of one card follow each other. */
		if (function->is_virtual || function->is_unresponsive ||
		    (accelerator->functions_share_card && counted && share_slot(counted, function)))
			continue;
		counted = function;
		count++;
		model = model_of(accelerator, function);
		if (model && nfd_tally_add(&models, model) < 0)
			scan->error = -ENOMEM;
	}
	if (first)
		add_presence(scan, accelerator->stem, first);
	if (count > 0)
		nfd_scan_count(scan, NFD_RANK_NORMAL, count, NFD_PCI_DEVICES, "%s.count",
			       accelerator->stem);
	if (models.count > 0)
		add_models(scan, accelerator, &models, count);
}
