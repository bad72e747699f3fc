// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output/node_view: words and faults for each situation of the labels on the Node.
 */
#include "config.h"

#include "output/node_view.h"

#include <string.h>

#include "tests/unit/json_row.h"
#include "tests/unit/unit.h"

#define FALLBACK NFD_LABELS_FALLBACK
#define ALWAYS NFD_LABELS_ALWAYS
#define UNKNOWN NFD_SERVED_UNKNOWN
#define NO NFD_SERVED_NO
#define YES NFD_SERVED_YES

static const struct {
	const char *name;
	enum nfd_label_mode mode;
	enum nfd_served served;
	bool hope, late;
	const char *result, *refused, *failure; /* NULL: none */
	const char *words;
	const char *faults; /* "level id: text" lines; W and E for the level */
} rows[] = {
	{ "nothing known", FALLBACK, UNKNOWN, true, false, NULL, NULL, NULL,
	  "the Node was not reached yet", "" },
	{ "failed before anything is known", FALLBACK, UNKNOWN, true, false, NULL, NULL,
	  "GET x: no route", "the Node was not reached yet", "E : GET x: no route\n" },
	{ "all by NFD", FALLBACK, YES, true, false, "{'owned':[],'missing':[]}", NULL, NULL,
	  "every label is on the Node by others, such as NFD", "" },
	{ "empty result", FALLBACK, YES, true, false, "{}", NULL, NULL,
	  "every label is on the Node by others, such as NFD", "" },
	{ "NFD's turn", FALLBACK, YES, true, false, "{'missing':['a','b']}", NULL, NULL,
	  "NFD is to bring 2 labels yet", "" },
	{ "no NFD", FALLBACK, NO, true, true, "{'owned':['a','b','c']}", NULL, NULL,
	  "3 labels are on the Node by us: the cluster has no NFD", "" },
	{ "NFD is silent", FALLBACK, YES, true, true, "{'owned':['a']}", NULL, NULL,
	  "1 labels are on the Node by us: NFD did not bring them",
	  "W nfd: NFD is installed but did not bring 1 labels within 1m; they are set by us: is "
	  "nfd-worker on this node running, and nfd-master?\n" },
	{ "late, but NFD brought all", FALLBACK, YES, true, true, "{'owned':[]}", NULL, NULL,
	  "every label is on the Node by others, such as NFD", "" },
	{ "mode always", ALWAYS, YES, true, false, "{'owned':['a']}", NULL, NULL,
	  "1 labels are on the Node by us: outputs.nodeLabels.mode is always", "" },
	{ "no other output", FALLBACK, YES, false, false, "{'owned':['a']}", NULL, NULL,
	  "1 labels are on the Node by us: no other output is on that NFD reads", "" },
	{ "not handed over yet", FALLBACK, YES, true, false, "{'owned':['a']}", NULL, NULL,
	  "1 labels are on the Node by us: NFD has not taken them over yet", "" },
	{ "conflict", FALLBACK, NO, true, false,
	  "{'conflicts':[{'key':'a/b','message':'kubectl owns it'}]}", NULL, NULL,
	  "every label is on the Node by others, such as NFD",
	  "W conflict a/b: label a/b is left to its owner: kubectl owns it\n" },
	{ "conflict without words", FALLBACK, NO, true, false, "{'conflicts':[{'key':'a/b'},7,{}]}",
	  NULL, NULL, "every label is on the Node by others, such as NFD",
	  "W conflict a/b: label a/b is left to its owner: \n"
	  "W conflict: label  is left to its owner: \n"
	  "W conflict: label  is left to its owner: \n" },
	{ "refused", FALLBACK, NO, true, false, "{}", "{'a/b':'not allowed'}", NULL,
	  "every label is on the Node by others, such as NFD",
	  "W refused a/b: the API server does not take label a/b: not allowed\n" },
	{ "stale label of NFD", FALLBACK, YES, true, true, "{'left':['a/b']}", NULL, NULL,
	  "every label is on the Node by others, such as NFD",
	  "W stale a/b: NFD lists label a/b as its own and keeps another value than the hardware "
	  "has: is nfd-worker on this node running?\n" },
	{ "stale, but NFD still has time", FALLBACK, YES, true, false, "{'left':['a/b']}", NULL,
	  NULL, "every label is on the Node by others, such as NFD", "" },
	{ "failure after a success", FALLBACK, NO, true, false, "{'owned':['a']}", NULL, "cut",
	  "1 labels are on the Node by us: the cluster has no NFD", "E : cut\n" },
	{ "lists are no lists", FALLBACK, NO, true, true,
	  "{'owned':'x','missing':7,'conflicts':null,'left':true}", NULL, NULL,
	  "every label is on the Node by others, such as NFD", "" },
	{ "list of NFD's labels holds no texts", FALLBACK, YES, true, true, "{'left':[7,null]}",
	  NULL, NULL, "every label is on the Node by others, such as NFD", NULL },
};

static const char *faults_text(const struct nfd_node_view *view)
{
	const char *text = "";

	for (size_t i = 0; i < view->fault_count; i++)
		text = unit_text("%s%c %s: %s\n", text,
				 view->fault[i].level == NFD_LOG_ERROR ? 'E' : 'W',
				 view->fault[i].id, view->fault[i].text);
	return text;
}

static void reports(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	struct nfd_node_view view = {
		.schedule = { .mode = row->mode,
			      .served = row->served,
			      .hope = row->hope,
			      .after_ms = 60000 },
		.late = row->late,
		.result = row->result ? json_new(row->result) : NULL,
		.refused = row->refused ? json_new(row->refused) : NULL,
	};

	snprintf(view.failure, sizeof(view.failure), "%s", row->failure ? row->failure : "");
	/* Twice: the second makes all of it anew. */
	nfd_node_view_report(&view);
	nfd_node_view_report(&view);
	assert_string_equal(view.words, row->words);
	if (row->faults)
		assert_string_equal(faults_text(&view), row->faults);
}

static void faults_are_bounded(void **state)
{
	const char *list = "{'conflicts':[";
	struct nfd_node_view view = { 0 };

	(void)state;
	for (int i = 0; i < NFD_NODE_FAULTS_MAX + 5; i++)
		list = unit_text("%s%s{'key':'k%d','message':'m'}", list, i ? "," : "", i);
	view.result = json_new(unit_text("%s]}", list));
	snprintf(view.failure, sizeof(view.failure), "first");
	nfd_node_view_report(&view);
	assert_int_equal(view.fault_count, NFD_NODE_FAULTS_MAX);
	assert_string_equal(view.fault[0].text, "first");
	assert_string_equal(view.fault[NFD_NODE_FAULTS_MAX - 1].id, "conflict k10");
}

/* Texts longer than their fields are cut, ids too. */
static void long_texts_are_cut(void **state)
{
	const char *key = unit_repeat('k', 1000);
	struct nfd_node_view view = { 0 };

	(void)state;
	view.result = json_new(unit_text("{'conflicts':[{'key':'%s','message':'%s'}]}", key, key));
	nfd_node_view_report(&view);
	assert_int_equal(strlen(view.fault[0].id), sizeof(view.fault[0].id) - 1);
	assert_int_equal(strlen(view.fault[0].text), sizeof(view.fault[0].text) - 1);
}

static const struct {
	const char *name;
	int status;
	const char *text, *failure;
} fail_rows[] = {
	{ "no such Node", 404, "GET /api/v1/nodes/n1: 404: not found",
	  "there is no Node \"n1\" (name from: NODE_NAME); set core.nodeName, NODE_NAME or "
	  "--node-name if it has another name; GET /api/v1/nodes/n1: 404: not found" },
	{ "refused", 403, "GET x: 403: forbidden",
	  "GET x: 403: forbidden (Node name from: NODE_NAME)" },
	{ "no reply", 0, "nfd-source-api was ended by signal 6",
	  "nfd-source-api was ended by signal 6" },
	{ "no words", 0, "", "" },
};

static void fails(void **state)
{
	const __typeof__(fail_rows[0]) *row = *state;
	const struct nfd_api_place place = { .node_name = "n1", .node_origin = "NODE_NAME" };
	struct nfd_api_answer answer = { .failed = true, .status = row->status };
	struct nfd_node_view view = { 0 };

	snprintf(answer.text, sizeof(answer.text), "%s", row->text);
	nfd_node_view_fail(&view, &place, &answer);
	assert_string_equal(view.failure, row->failure);
}

static void long_failure_names_the_node(void **state)
{
	const struct nfd_api_place place = { .node_name = unit_repeat('n', 253),
					     .node_origin = "the name of the host" };
	struct nfd_api_answer answer = { .failed = true, .status = 404 };
	struct nfd_node_view view = { 0 };

	(void)state;
	memset(answer.text, 'x', sizeof(answer.text) - 1);
	nfd_node_view_fail(&view, &place, &answer);
	unit_assert_contains(view.failure, place.node_name);
	unit_assert_contains(view.failure, "--node-name");
}

static void done_of_zeroed_is_fine(void **state)
{
	struct nfd_node_view view = { 0 };

	(void)state;
	nfd_node_view_done(&view);
	view.result = cJSON_CreateObject();
	view.refused = cJSON_CreateObject();
	nfd_node_view_done(&view);
	assert_null(view.result);
	assert_null(view.refused);
}

int main(void)
{
	struct unit_suite suite = { .name = "node_view" };

	UNIT_ROWS(&suite, reports, rows, name);
	UNIT_CASE(&suite, faults_are_bounded);
	UNIT_CASE(&suite, long_texts_are_cut);
	UNIT_ROWS(&suite, fails, fail_rows, name);
	UNIT_CASE(&suite, long_failure_names_the_node);
	UNIT_CASE(&suite, done_of_zeroed_is_fine);
	return unit_run(&suite);
}
