// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The scanner that has stated a label tells; for one that was only read back its key does.
 */
#include "config.h"

#include "cmd/place.h"

#include "scan/pci.h"
#include "scan/scan.h"

/* The label of a PCI vendor, which we add whatever the configured fields; a key of one field looks like it. */
static bool is_added(const struct nfd_label *label, const struct nfd_bus_options *pci)
{
	return label->rank == NFD_RANK_ESSENTIAL && nfd_pci_is_vendor_key(label->key) &&
	       pci->label_fields != 1U << NFD_PCI_FIELD_VENDOR;
}

/* Whether nfd-worker would write it. */
static bool is_workers(const struct nfd_scanner *scanner, const struct nfd_label *label,
		       const struct nfd_bus_options *pci)
{
	return scanner && scanner->source && !is_added(label, pci);
}

static bool is_own(const struct nfd_scanner *scanner)
{
	return !scanner || scanner->vendor != NFD_VENDOR_NFD;
}

int nfd_place_offer(struct nfd_place *place, const struct nfd_settings *settings,
		    struct nfd_offer *offer)
{
	int r = 0;

	*place = (struct nfd_place){ 0 };
	if (settings->outputs.node_feature.mode != NFD_OBJECT_WORKER)
		return 0;
	for (size_t i = 0; i < offer->set->count && r == 0; i++) {
		const struct nfd_label *label = &offer->set->label[i];
		const struct nfd_scanner *scanner = nfd_scanner_of_label(label);

		if (is_workers(scanner, label, &settings->scan.pci))
			r = nfd_set_put(&place->workers, label);
		if (r == 0 && is_own(scanner))
			r = nfd_set_put(&place->own, label);
	}
	offer->workers = &place->workers;
	offer->own = &place->own;
	return r;
}

void nfd_place_done(struct nfd_place *place)
{
	nfd_set_done(&place->workers);
	nfd_set_done(&place->own);
}
