/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names and numbers of an x86 processor's maker, model and hypervisor (spec nfd.md 2.1.1).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NFD_CPUID_TEXT_SIZE 13

/**
 * nfd_cpuid_text() - three registers as the text that they hold.
 * @ret: receives up to 12 bytes, cut at the first NUL.
 */
void nfd_cpuid_text(uint32_t first, uint32_t second, uint32_t third, char ret[NFD_CPUID_TEXT_SIZE]);

/**
 * nfd_cpuid_vendor() - a maker's name.
 * @text: of leaf 0 (EBX, EDX, ECX).
 * Return: static text; NFD_CPU_VENDOR_UNKNOWN.
 */
const char *nfd_cpuid_vendor(const char *text);

/**
 * nfd_cpuid_hypervisor() - a hypervisor's name.
 * @text: of leaf 40000000h (EBX, ECX, EDX).
 * @ret:  receives NFD's name in lower case; for an unknown one the text with '_' for what a label may
 *        not have, "unknown" when there is none.
 */
void nfd_cpuid_hypervisor(const char *text, char ret[NFD_CPUID_TEXT_SIZE]);

/**
 * nfd_cpuid_family() - the family in EAX of leaf 1.
 */
unsigned int nfd_cpuid_family(uint32_t signature);

/**
 * nfd_cpuid_model() - the model in EAX of leaf 1.
 */
unsigned int nfd_cpuid_model(uint32_t signature);
