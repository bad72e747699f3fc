/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Configuration of the running kernel: kernel-config.*, and the raw feature kernel.config, as NFD's
 * kernel source (spec nfd.md 2.2 and 3).
 */
#pragma once

#include <stdint.h>

#include "scan/scanner.h"

extern const struct nfd_scanner nfd_kernel_config_scanner;

/* The options that get labels where nobody says others; a list as in the settings. */
#define NFD_KERNEL_CONFIG_OPTS "NO_HZ,NO_HZ_IDLE,NO_HZ_FULL,PREEMPT"

/**
 * struct nfd_kernel_option - an option that is set.
 */
struct nfd_kernel_option {
	const char *name;  /* without "CONFIG_" */
	const char *value; /* without quotes around it */
	uint32_t length;   /* of the name */
	bool is_enabled;   /* the value is y or m, unquoted */
};

/**
 * nfd_kernel_config_parse() - the options of a configuration.
 * @text: content of a .config file, any bytes, NUL-terminated; changed, and must live as long as the
 *        result.
 * @ret:  receives an array in the order of the file, in which a name may be there twice (the last
 *        counts); names that are no words are left out. Owner: caller, free().
 * Return: number of options (>= 0); -ENOMEM.
 */
ssize_t nfd_kernel_config_parse(char *text, struct nfd_kernel_option **ret) nfd_must_check;
