// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Words only: nothing here decides.
 */
#include "config.h"

#include "output/node_view.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/json.h"
#include "base/parse.h"

void nfd_node_view_done(struct nfd_node_view *view)
{
	cJSON_Delete(view->refused);
	cJSON_Delete(view->result);
	view->refused = view->result = NULL;
}

static nfd_printf_like(5, 6) void add_fault(struct nfd_node_view *view, enum nfd_log_level level,
					    const char *kind, const char *key, const char *fmt, ...)
{
	struct nfd_output_fault *fault = &view->fault[view->fault_count];
	va_list args;

	if (view->fault_count == NFD_NODE_FAULTS_MAX)
		return;
	view->fault_count++;
	fault->level = level;
	snprintf(fault->id, sizeof(fault->id), "%s%s%s", kind, key[0] ? " " : "", key);
	va_start(args, fmt);
	vsnprintf(fault->text, sizeof(fault->text), fmt, args);
	va_end(args);
}

static void note_conflicts(struct nfd_node_view *view)
{
	const cJSON *list = nfd_json_get(view->result, "conflicts");
	const cJSON *entry;

	cJSON_ArrayForEach(entry, list)
		add_fault(view, NFD_LOG_WARNING, "conflict", nfd_json_text(entry, "key"),
			  "label %s is left to its owner: %s", nfd_json_text(entry, "key"),
			  nfd_json_text(entry, "message"));
	cJSON_ArrayForEach(entry, view->refused)
		add_fault(view, NFD_LOG_WARNING, "refused", entry->string,
			  "the API server does not take label %s: %s", entry->string,
			  cJSON_GetStringValue(entry));
	list = nfd_json_get(view->result, "left");
	if (view->late)
		cJSON_ArrayForEach(entry, list)
			if (cJSON_IsString(entry))
				add_fault(
					view, NFD_LOG_WARNING, "stale", cJSON_GetStringValue(entry),
					"NFD lists label %s as its own and keeps another value than the "
					"hardware has: is nfd-worker on this node running?",
					cJSON_GetStringValue(entry));
}

/* Where NFD is there and labels are ours all the same, it did not bring them in its time. */
static bool is_nfd_silent(const struct nfd_node_view *view)
{
	return view->late && view->schedule.served == NFD_SERVED_YES &&
	       nfd_json_length(view->result, "owned") > 0;
}

static void make_faults(struct nfd_node_view *view)
{
	char after[NFD_DURATION_TEXT_SIZE];

	view->fault_count = 0;
	if (view->failure[0])
		add_fault(view, NFD_LOG_ERROR, "", "", "%s", view->failure);
	nfd_format_duration(view->schedule.after_ms, after);
	if (is_nfd_silent(view))
		add_fault(
			view, NFD_LOG_WARNING, "nfd", "",
			"NFD is installed but did not bring %zu labels within %s; they are set by "
			"us: is nfd-worker on this node running, and nfd-master?",
			nfd_json_length(view->result, "owned"), after);
	note_conflicts(view);
}

/* Why labels are on the Node by us. */
static const char *reason(const struct nfd_node_view *view)
{
	if (view->schedule.served == NFD_SERVED_NO)
		return "the cluster has no NFD";
	if (is_nfd_silent(view))
		return "NFD did not bring them";
	if (view->schedule.mode == NFD_LABELS_ALWAYS)
		return "outputs.nodeLabels.mode is always";
	return view->schedule.hope ? "NFD has not taken them over yet" :
				     "no other output is on that NFD reads";
}

static void make_words(struct nfd_node_view *view)
{
	size_t owned = nfd_json_length(view->result, "owned");
	size_t missing = nfd_json_length(view->result, "missing");

	if (!view->result)
		snprintf(view->words, sizeof(view->words), "the Node was not reached yet");
	else if (missing)
		snprintf(view->words, sizeof(view->words), "NFD is to bring %zu labels yet",
			 missing);
	else if (owned)
		snprintf(view->words, sizeof(view->words), "%zu labels are on the Node by us: %s",
			 owned, reason(view));
	else
		snprintf(view->words, sizeof(view->words),
			 "every label is on the Node by others, such as NFD");
}

void nfd_node_view_report(struct nfd_node_view *view)
{
	make_faults(view);
	make_words(view);
}

void nfd_node_view_fail(struct nfd_node_view *view, const struct nfd_api_place *place,
			const struct nfd_api_answer *answer)
{
	if (answer->status == 404)
		snprintf(
			view->failure, sizeof(view->failure),
			"there is no Node \"%.253s\" (name from: %s); set core.nodeName, NODE_NAME "
			"or --node-name if it has another name; %.200s",
			place->node_name, place->node_origin, answer->text);
	else if (answer->status == 403)
		/* What a kubelet's credentials are told about another kubelet's Node. */
		snprintf(view->failure, sizeof(view->failure), "%.420s (Node name from: %.100s)",
			 answer->text, place->node_origin);
	else
		snprintf(view->failure, sizeof(view->failure), "%s", answer->text);
}
