/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apt's configuration (apt.conf(5)), as far as automatic upgrades need it: values by their full key,
 * lists as several values of one key.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/root.h"

#define NFD_APT_VALUES_MAX 1024

struct nfd_apt_value {
	char *key;   /* "APT::Periodic::Enable"; of a list's entry that of the list; owned */
	char *value; /* owned */
};

struct nfd_apt_config {
	struct nfd_apt_value *value; /* array of @count, in order; owned */
	size_t count;
	int error; /* a file could not be read (negative errno), else 0 */
};

/**
 * nfd_apt_config_read() - read etc/apt/apt.conf.d/ in name order, then etc/apt/apt.conf.
 * @config: filled; to be given to nfd_apt_config_done() also after a failure.
 * Return: 0, also when there is none; -ENOMEM.
 */
int nfd_apt_config_read(const struct nfd_root *root, struct nfd_apt_config *config) nfd_must_check;

/**
 * nfd_apt_config_parse() - add what one file says. What it cannot make sense of is passed over.
 * @text: content, NUL-terminated.
 * Return: 0; -ENOMEM.
 */
int nfd_apt_config_parse(struct nfd_apt_config *config, const char *text) nfd_must_check;

/**
 * nfd_apt_config_get() - the last value of a key; keys are compared without case.
 * Return: borrowed; @otherwise when there is none.
 */
const char *nfd_apt_config_get(const struct nfd_apt_config *config, const char *key,
			       const char *otherwise);

/**
 * nfd_apt_config_next() - walk through the values of a key.
 * @cursor: 0 at the start.
 * Return: borrowed; NULL at the end.
 */
const char *nfd_apt_config_next(const struct nfd_apt_config *config, const char *key,
				size_t *cursor);

/**
 * nfd_apt_config_done() - free; a zeroed one is fine.
 */
void nfd_apt_config_done(struct nfd_apt_config *config);
