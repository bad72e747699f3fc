/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of the labels on our Node, and how it is said: the words of the output nodeLabels.
 */
#pragma once

#include <cjson/cJSON.h>

#include "output/api_run.h"
#include "output/node_schedule.h"
#include "output/output.h"

#define NFD_NODE_FAULTS_MAX 12

struct nfd_node_view {
	struct nfd_node_schedule schedule;
	cJSON *result;  /* of the last run that succeeded; owned; NULL: none yet */
	cJSON *refused; /* object: keys that the API server refused → its words; owned; or NULL */
	bool late;      /* that run came after NFD's time to bring the labels */
	char failure[640]; /* of the last run; "" when it succeeded */
	char words[200];   /* how things are */
	struct nfd_output_fault fault[NFD_NODE_FAULTS_MAX];
	size_t fault_count;
};

/**
 * nfd_node_view_report() - make faults and words anew from what is known.
 */
void nfd_node_view_report(struct nfd_node_view *view);

/**
 * nfd_node_view_fail() - note that a run failed.
 * @place:  names the Node and where its name comes from (field case E1).
 * @answer: a failed one.
 */
void nfd_node_view_fail(struct nfd_node_view *view, const struct nfd_api_place *place,
			const struct nfd_api_answer *answer);

/**
 * nfd_node_view_done() - free; a zeroed one is fine.
 */
void nfd_node_view_done(struct nfd_node_view *view);
