/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of the running kernel as NFD's kernel source tells it (spec nfd.md 2.2 and 3): the label
 * kernel-selinux.enabled and the raw features kernel.version, kernel.selinux, kernel.kvm. The
 * kernel-version labels are those of scan/kernel.
 */
#pragma once

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_kernel_state_scanner;
