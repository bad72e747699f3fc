/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processor that this program runs on. The only file that asks it: what belongs to another root
 * must not get its facts.
 */
#pragma once

#include "scan/cpu_facts.h"

/**
 * nfd_cpu_live() - ask the processor; fails never.
 * @ret: all fields are set. x86-64: the instructions CPUID and XGETBV; arm64: AT_HWCAP, AT_HWCAP2 and
 *       MIDR_EL1; arm, s390x and ppc64le: AT_HWCAP and AT_HWCAP2.
 */
void nfd_cpu_live(struct nfd_cpu_facts *ret);
