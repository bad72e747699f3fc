/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is to be done about the labels of a Node: which to apply, which to hand over to NFD, which to
 * leave alone (design 5.3, spec nfd.md 5.3). Pure: Node in, plan out.
 */
#pragma once

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "base/macros.h"

struct nfd_node_wish {
	const cJSON *labels; /* object: every label that we want */
	const cJSON *leave;  /* array of keys that were refused: not sent; NULL for none */
	const cJSON *keep;   /* array of key prefixes: what we own of them stays; NULL for none */
	bool bring;          /* set what is missing; else only keep right what we own */
	bool nfd_gone;       /* the cluster serves no NFD: its annotation is a leftover */
};

struct nfd_node_plan {
	cJSON *want;      /* object: the labels to apply, all that we shall own */
	cJSON *hand_over; /* array of keys that we own and NFD lists: to be given up first */
	cJSON *changed;   /* array of keys that the apply sets or changes */
	cJSON *withdrawn; /* array of keys that the apply takes away */
	cJSON *missing;   /* array of keys that NFD is to bring */
	cJSON *left;      /* array of keys that NFD lists with another value */
	cJSON *conflicts; /* array of {"key","message"}: another manager owns another value */
	cJSON *owned;     /* array of keys that we own now */
};

#define cleanup_plan __attribute__((cleanup(nfd_node_plan_done)))

/**
 * nfd_node_is_listed() - whether an nfd-master lists a label as its own.
 * @metadata: of the Node.
 * @key:      full label key.
 */
bool nfd_node_is_listed(const cJSON *metadata, const char *key);

/**
 * nfd_node_has_nfd() - whether the Node has an annotation of an nfd-master.
 */
bool nfd_node_has_nfd(const cJSON *metadata);

/**
 * nfd_has_prefix() - whether a key begins with one of an array of texts.
 * @prefixes: NULL for none.
 */
bool nfd_has_prefix(const cJSON *prefixes, const char *key);

/**
 * nfd_node_plan_make() - compare a Node with what we want.
 * @plan:     filled; to be given to nfd_node_plan_done() also after a failure.
 * @metadata: of the Node.
 * @manager:  our field manager.
 * Return: 0; -ENOMEM.
 */
int nfd_node_plan_make(struct nfd_node_plan *plan, const cJSON *metadata,
		       const struct nfd_node_wish *wish, const char *manager) nfd_must_check;

/**
 * nfd_node_plan_is_apply() - whether the plan has anything to apply.
 */
bool nfd_node_plan_is_apply(const struct nfd_node_plan *plan);

/**
 * nfd_node_plan_done() - free; a zeroed one is fine.
 */
void nfd_node_plan_done(struct nfd_node_plan *plan);
