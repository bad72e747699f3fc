/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What keeps driver packages where they are, and what moves them: apt, dnf, zypper (spec
 * gpu-stack.md 5). From files alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/root.h"
#include "base/strbuf.h"
#include "doctor/apt_config.h"
#include "doctor/packages.h"

#define NFD_HOLD_RULES_MAX 64

enum nfd_hold_kind {
	NFD_HOLD_GLOB,  /* name pattern of a shell */
	NFD_HOLD_REGEX, /* regular expression, anywhere in the name */
	NFD_HOLD_START, /* regular expression that must match from the start (unattended-upgrades) */
	NFD_HOLD_PART,  /* text anywhere in the name */
};

/* A rule that keeps packages from being upgraded. */
struct nfd_hold_rule {
	enum nfd_hold_kind kind;
	bool automatic_only; /* only an automatic upgrade respects it */
	char pattern[128];
	char path[128]; /* file that has it */
};

struct nfd_holds {
	struct nfd_hold_rule rule[NFD_HOLD_RULES_MAX];
	size_t count;
	bool is_automatic;         /* something upgrades packages by itself */
	char automatic[128];       /* file that says so */
	char automatic_value[160]; /* what it says */
	char origins[200];         /* which origins it takes, for people; "" when not limited */
	int error;                 /* a file could not be read (negative errno), else 0 */
	char error_path[128];
};

/**
 * nfd_holds_read() - read the rules of every package manager that is there.
 * @holds: filled.
 * Return: 0; -ENOMEM.
 */
int nfd_holds_read(const struct nfd_root *root, struct nfd_holds *holds) nfd_must_check;

/**
 * nfd_holds_find() - the rule that holds a package.
 * Return: borrowed; NULL when none does.
 */
const struct nfd_hold_rule *nfd_holds_find(const struct nfd_holds *holds, const char *package);

/**
 * nfd_holds_list_free() - append the coupled packages that nothing holds, as words for a command.
 */
void nfd_holds_list_free(const struct nfd_holds *holds, const struct nfd_packages *packages,
			 struct nfd_strbuf *buf);

/**
 * nfd_hold_matches() - whether a rule is about a package.
 */
bool nfd_hold_matches(const struct nfd_hold_rule *rule, const char *package);
