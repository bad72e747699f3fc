/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon gives up, itself and for its children: system calls that it never makes, and writing
 * anywhere but to its own outputs (setting confinement.mode; docs/rights.md).
 */
#pragma once

#include <limits.h>

#include "base/error.h"
#include "settings.h"

/* The folders of feature file, status and metrics. */
#define NFD_CONFINEMENT_FOLDERS 3

struct nfd_confinement {
	int mode;           /* enum nfd_mode, as it was at the start */
	unsigned int calls; /* enum nfd_call_group that were left in; 0: not filtered */
	int landlock;       /* its version once it is in force; 0: it is not */
	bool has_devices;   /* the driver's device nodes may be used, by NVML's helper */
	bool waits;         /* Landlock comes when the folders are there */
	char calls_reason[128], landlock_reason[PATH_MAX + 64]; /* why not; "" when it is */
	char folder[NFD_CONFINEMENT_FOLDERS][PATH_MAX];         /* that may be written below */
	size_t folder_count;
};

/**
 * nfd_confinement_begin() - filter the system calls, and restrict writing if all folders are there.
 * @confinement: filled. What the system cannot do is noted in it.
 * @settings:    borrowed for the call.
 * @err:         says what is missing.
 * Return: 0; where the mode is "on", -EOPNOTSUPP and other errno of nfd_call_filter_apply() and
 *         nfd_landlock_restrict().
 */
int nfd_confinement_begin(struct nfd_confinement *confinement, const struct nfd_settings *settings,
			  struct nfd_error *err) nfd_must_check;

/**
 * nfd_confinement_step() - restrict writing if it waited for folders that are there now. To be called
 * after outputs had a chance to make them.
 * Return: as nfd_confinement_begin().
 */
int nfd_confinement_step(struct nfd_confinement *confinement, const struct nfd_settings *settings,
			 struct nfd_error *err) nfd_must_check;

/**
 * nfd_confinement_covers() - whether settings that were read anew can be followed.
 * @err: names what this process gave up and the settings now ask for.
 * Return: true; false: a restart is needed.
 */
bool nfd_confinement_covers(const struct nfd_confinement *confinement,
			    const struct nfd_settings *settings, struct nfd_error *err);
