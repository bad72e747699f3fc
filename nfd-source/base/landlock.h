/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Landlock: after a restriction this process and its children can change files only below named paths.
 * Reading stays as it was: what is read lies anywhere below the root, and mounts decide over that.
 */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* The first kernel whose Landlock can rename between folders, which an atomic file needs: Linux 5.19. */
#define NFD_LANDLOCK_ABI_LEAST 2

enum nfd_landlock_use {
	NFD_LANDLOCK_FILES,   /* make, write, rename and remove files and folders */
	NFD_LANDLOCK_DEVICES, /* write to what is there, ioctl(2) */
};

struct nfd_landlock_rule {
	const char *path; /* links are followed; a missing one is passed over */
	enum nfd_landlock_use use;
};

/**
 * nfd_landlock_abi() - what this kernel has.
 * Return: version of the interface, 1 or more; 0 without Landlock, or where a filter refuses it.
 */
int nfd_landlock_abi(void);

/**
 * nfd_landlock_restrict() - from now on write only where a rule allows it, and listen on no TCP port.
 * Cannot be undone; sets no_new_privs.
 * @rules: @count rules. Uses that the kernel cannot tell apart yet are left as they were.
 * @err:   names the step or the path.
 * Return: 0; -EOPNOTSUPP when the kernel's interface is missing or older than NFD_LANDLOCK_ABI_LEAST;
 *         other errno of landlock_create_ruleset(2) and its kin, then nothing is restricted.
 */
int nfd_landlock_restrict(const struct nfd_landlock_rule *rules, size_t count,
			  struct nfd_error *err);
