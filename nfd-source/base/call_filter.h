/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A seccomp filter of system calls: those of the named groups are let through, all others answer
 * ENOSYS, as in a kernel that does not have them, which is what C libraries are prepared for.
 */
#pragma once

#include "base/error.h"

enum nfd_call_group {
	NFD_CALLS_START = 1,       /* start other programs, wait for them, signal them */
	NFD_CALLS_NETWORK = 2,     /* sockets of IPv4 and IPv6, not only those of the host */
	NFD_CALLS_CONFINE = 4,     /* restrict itself further */
	NFD_CALLS_ANY_PROGRAM = 8, /* what programs of others use, which we start */
};

/**
 * nfd_call_filter_apply() - filter the calls of this process and of its children from now on.
 * Cannot be undone; sets no_new_privs. Files, memory, time, threads and the like are always allowed.
 * @groups: enum nfd_call_group, joined by |.
 * @err:    says what failed.
 * Return: 0; -EOPNOTSUPP where the kernel or an outer filter refuses one, then nothing is filtered;
 *         -ENOMEM.
 */
int nfd_call_filter_apply(unsigned int groups, struct nfd_error *err);
