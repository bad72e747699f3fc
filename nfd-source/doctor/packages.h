/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Installed packages of the NVIDIA driver, from dpkg's database (spec gpu-stack.md 5). The database
 * of rpm is no text: there only its presence is known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/root.h"

#define NFD_PACKAGES_MAX 64

struct nfd_package {
	char name[96];
	char version[96];
	bool is_held;    /* "Status: hold ok installed" */
	bool is_coupled; /* must move with the loaded module; else a container tool */
};

struct nfd_packages {
	struct nfd_package package[NFD_PACKAGES_MAX]; /* in the database's order */
	size_t count;
	bool is_read; /* dpkg's database is there and could be read */
	int error;    /* negative errno when it could not; 0 */
	bool is_rpm;  /* an rpm database is there: names and versions are not known */
};

/* The last upgrade of one of them, from apt's history. */
struct nfd_upgrade {
	char package[96];
	char before[96], after[96]; /* versions */
	char when[40];              /* as the log has it: "2026-02-03  06:11:12", local time */
	char command[160];          /* "Commandline:"; "" for none */
	char path[64];              /* log, below the root */
};

/**
 * nfd_package_is_driver() - whether a package belongs to the driver set.
 * @ret_coupled: receives whether it must have the module's version; may be NULL.
 */
bool nfd_package_is_driver(const char *name, bool *ret_coupled);

/**
 * nfd_packages_read() - read var/lib/dpkg/status.
 * @ret: filled with the installed packages of the set, foreign architectures (i386) left out.
 */
void nfd_packages_read(const struct nfd_root *root, struct nfd_packages *ret);

/**
 * nfd_packages_parse() - the same from a text.
 * @text: content of the database, changed.
 */
void nfd_packages_parse(char *text, struct nfd_packages *ret);

/**
 * nfd_packages_library() - the installed package that has libnvidia-ml.
 * Return: borrowed name; NULL when none is known.
 */
const char *nfd_packages_library(const struct nfd_packages *packages);

/**
 * nfd_packages_module() - the package that has the prebuilt modules for a kernel, as a word for a
 * shell: "linux-modules-nvidia-580-open-$(uname -r)".
 * @release: of the kernel that an installed one is for.
 * @ret:     receives it; "" when none is installed (DKMS).
 */
void nfd_packages_module(const struct nfd_packages *packages, const char *release, char *ret,
			 size_t size);

/**
 * nfd_packages_upgrade() - the newest upgrade that moved a coupled package of the set.
 * @ret: filled.
 * Return: whether there is one in var/log/apt/history.log.
 */
bool nfd_packages_upgrade(const struct nfd_root *root, struct nfd_upgrade *ret);

/**
 * nfd_packages_find_upgrade() - the same from the text of a log.
 * @text: changed.
 */
bool nfd_packages_find_upgrade(char *text, struct nfd_upgrade *ret);
