/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In nfd-worker's place (outputs.nodeFeature.mode: worker) the labels go into two objects: what a worker
 * would publish, and what is ours wherever NFD is. Some are in both, such as those of PCI devices.
 */
#pragma once

#include "labels/set.h"
#include "output/output.h"
#include "settings.h"

struct nfd_place {
	struct nfd_set workers, own; /* empty where we are not in that place */
};

#define cleanup_place __attribute__((cleanup(nfd_place_done)))

/**
 * nfd_place_offer() - the two sets of an offer.
 * @place: filled, must outlive @offer; to be given to nfd_place_done() also after a failure.
 * @offer: set is read; workers and own are set where we are in nfd-worker's place, else untouched.
 * Return: 0; -ENOMEM.
 */
int nfd_place_offer(struct nfd_place *place, const struct nfd_settings *settings,
		    struct nfd_offer *offer) nfd_must_check;

/**
 * nfd_place_done() - free; a zeroed one is fine.
 */
void nfd_place_done(struct nfd_place *place);
