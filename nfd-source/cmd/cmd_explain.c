// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * explain KEY: why a label is there or not on this host: which device, which file and content, which
 * setting let it through or stopped it, whether the feature file has it, and whether the Node does.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "cmd/cmd.h"
#include "output/node_view.h"
#include "scan/pci.h"
#include "scan/scan.h"

static void put_setting(const struct nfd_settings *settings, const char *key, const char *word,
			struct nfd_strbuf *buf)
{
	const struct nfd_setting *table;
	size_t count;

	table = nfd_settings_table(&count);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(table[i].key, key) != 0)
			continue;
		nfd_strbuf_printf(buf, "%s %s: ", word, key);
		nfd_settings_format(settings, &table[i], buf);
		nfd_strbuf_printf(buf, "  # %s\n", nfd_settings_origin(settings, key));
	}
}

/* Settings that let a label of a scanner through. */
static void put_passed_settings(const struct nfd_context *context, const char *key,
				const struct nfd_scanner *scanner, struct nfd_strbuf *buf)
{
	char name[96];

	if (nfd_pci_is_vendor_key(key))
		nfd_strbuf_puts(buf, "let through by: vendor labels pass core.labelWhiteList\n");
	else if (context->settings.scan.label_white_list[0])
		put_setting(&context->settings, "core.labelWhiteList", "let through by:", buf);
	if (!scanner)
		return;
	snprintf(name, sizeof(name), "sources.%s.deviceClassWhitelist", scanner->name);
	put_setting(&context->settings, name, "let through by:", buf);
}

static void put_feature_file(const struct nfd_context *context, const char *key,
			     struct nfd_strbuf *buf)
{
	const struct nfd_feature_file_options *options = &context->settings.outputs.feature_file;
	struct nfd_feature_file_state file;
	struct nfd_error err = { 0 };
	const char *value;

	if (nfd_feature_file_read(options, nfd_clock_real_s(), &file, &err) < 0) {
		nfd_strbuf_printf(buf, "feature file: unknown: %s\n", nfd_error_text(&err));
		return;
	}
	value = nfd_set_value(&file.labels, key);
	nfd_strbuf_printf(buf, "feature file %s/%s: ", options->dir, options->name);
	if (value)
		nfd_strbuf_printf(buf, "has it, value \"%s\"\n", value);
	else
		nfd_strbuf_puts(buf, !file.exists      ? "does not exist\n" :
				     file.labels.count ? "does not have it\n" :
							 "has expired or holds no label\n");
	nfd_feature_file_state_done(&file);
}

/* A path is below the root; a register of the processor is none, and features.d is not there. */
static void put_source(const struct nfd_context *context, const char *source,
		       struct nfd_strbuf *buf)
{
	bool below_root = source[0] != '/' && strchr(source, '/');

	nfd_strbuf_puts(buf, "source: ");
	if (below_root && strcmp(context->root_path, "/") != 0)
		nfd_strbuf_puts(buf, context->root_path);
	nfd_strbuf_printf(buf, "%s%s\n", below_root ? "/" : "", source);
}

static void put_found(const struct nfd_context *context, const struct nfd_label *label,
		      const struct nfd_scanner *scanner, struct nfd_strbuf *buf)
{
	if (label->stopped_by) {
		nfd_strbuf_printf(buf, "%s: no, the hardware has it but a setting stops it\n",
				  label->key);
		put_setting(&context->settings, label->stopped_by, "stopped by:", buf);
	} else {
		nfd_strbuf_printf(buf, "%s: yes, value \"%s\"\n", label->key, label->value);
		put_passed_settings(context, label->key, scanner, buf);
	}
	if (label->source)
		put_source(context, label->source, buf);
}

/* Whose labels they are, and who writes them. */
static void put_vendor(const struct nfd_context *context, const struct nfd_scanner *scanner,
		       struct nfd_strbuf *buf)
{
	const struct nfd_vendor_state *state;

	if (!scanner || !scanner->vendor)
		return;
	state = &context->vendors.of[scanner->vendor];
	if (scanner->vendor == NFD_VENDOR_NFD)
		nfd_strbuf_puts(buf, "sources of nfd-worker: ");
	else
		nfd_strbuf_printf(buf, "vendor %s: ", nfd_labeller(scanner->vendor)->name);
	nfd_strbuf_printf(buf, "%s, because %s\n", nfd_vendor_words(state->verdict), state->why);
	put_setting(&context->settings, nfd_labeller(scanner->vendor)->setting, "setting:", buf);
	if (scanner->vendor == NFD_VENDOR_NVIDIA && context->nvml.why[0])
		nfd_strbuf_printf(buf, "NVML: no report: %s\n", context->nvml.why);
}

static void put_missing(const struct nfd_context *context, const char *key,
			const struct nfd_scan *scan, const struct nfd_scanner *scanner,
			struct nfd_strbuf *buf)
{
	enum nfd_vendor_verdict verdict = scanner && scanner->vendor ?
						  context->vendors.of[scanner->vendor].verdict :
						  NFD_VENDOR_WRITE;
	const struct nfd_unknown *unknown = nfd_unknowns_find(&scan->unknowns, key);

	if (unknown && (!unknown->doubt || verdict == NFD_VENDOR_WAIT))
		nfd_strbuf_printf(buf,
				  "%s: unknown, a published value stays until its lifetime ends\n"
				  "reason: %s\n",
				  key, unknown->reason);
	else if (verdict == NFD_VENDOR_LEAVE)
		nfd_strbuf_printf(buf, "%s: no, %s are not ours to write\n", key,
				  scanner->vendor == NFD_VENDOR_NFD ? "labels of NFD's sources" :
								      "this vendor's labels");
	else if (scanner)
		nfd_strbuf_printf(buf, "%s: no, nothing on this host gives it\n", key);
	else
		nfd_strbuf_printf(buf, "%s: no, no scanner makes keys of this form\n", key);
	if (unknown && unknown->doubt && verdict != NFD_VENDOR_WAIT)
		nfd_strbuf_printf(buf, "note: %s\n", unknown->reason);
}

/* "nfd-master (Update), nfd-source (Apply)" */
static void put_managers(const cJSON *label, struct nfd_strbuf *buf)
{
	const cJSON *managers = nfd_json_get(label, "managers");
	const cJSON *entry;
	const char *comma = "";

	cJSON_ArrayForEach(entry, managers) {
		nfd_strbuf_printf(buf, "%s%s (%s)", comma, nfd_json_text(entry, "manager"),
				  nfd_json_text(entry, "operation"));
		comma = ", ";
	}
	if (!*comma)
		nfd_strbuf_puts(buf, "nobody (it was handed over, or set before owners were kept)");
}

static void put_node_label(const cJSON *result, struct nfd_strbuf *buf)
{
	const cJSON *label = nfd_json_get(result, "label");

	if (!cJSON_IsObject(label)) {
		nfd_strbuf_puts(buf, "does not have it\n");
		return;
	}
	nfd_strbuf_puts(buf, "has it, value ");
	nfd_strbuf_put_quoted(buf, nfd_json_text(label, "value"));
	nfd_strbuf_puts(buf, ", owned by ");
	put_managers(label, buf);
	if (nfd_json_is_true(label, "listedByNfd"))
		nfd_strbuf_puts(buf, "; NFD lists it as its own");
	nfd_strbuf_puts(buf, "\n");
}

/* The Node's side, where there are credentials. It may take as long as api.deadline. */
static int show_node(const struct nfd_context *context, const char *key)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	const struct nfd_api_options *options = &context->settings.outputs.api;
	struct nfd_error err = { 0 };
	struct nfd_api_access access;
	cJSON *request, *result = NULL;

	nfd_strbuf_printf(&buf, "Node %s: ", context->settings.core.node_name);
	if (!nfd_api_access_find(options, &access)) {
		nfd_strbuf_printf(&buf, "not asked: %s\n", access.why);
		return nfd_print(&buf);
	}
	request = cJSON_CreateObject();
	cJSON_AddStringToObject(request, "action", "node-look");
	cJSON_AddStringToObject(request, "key", key);
	if (nfd_api_exchange(options, request, &result, &err) < 0)
		nfd_strbuf_printf(&buf, "unknown: %s\n", nfd_error_text(&err));
	else
		put_node_label(result, &buf);
	cJSON_Delete(result);
	return nfd_print(&buf);
}

/* A key without prefix is meant to be one of NFD's. */
static void complete_key(const char *text, char *ret, size_t size)
{
	snprintf(ret, size, "%s%s", strchr(text, '/') ? "" : NFD_F, text);
}

static int run(struct nfd_context *context)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	char key[NFD_LABEL_KEY_SIZE + 64];
	const struct nfd_scanner *scanner;
	const struct nfd_label *label;
	struct nfd_error err = { 0 };
	struct nfd_scan scan = { 0 };
	unsigned int flags = NFD_SCAN_ALL;
	int exit_code;

	complete_key(context->operand, key, sizeof(key));
	if (nfd_label_key_check(key, &err) < 0) {
		nfd_log(NFD_LOG_ERROR, "not a label key", "error", nfd_error_text(&err), NULL);
		return NFD_EXIT_USAGE;
	}
	scanner = nfd_scanner_of(key);
	if (!scanner || scanner->vendor != NFD_VENDOR_NVIDIA)
		flags |= NFD_SCAN_QUICK;
	if (nfd_context_scan(context, &scan, flags) < 0 ||
	    (scanner && scanner->vendor && nfd_context_ask_vendors(context, &scan, flags) < 0)) {
		nfd_scan_done(&scan);
		return NFD_EXIT_FAILED;
	}
	label = nfd_set_find(&scan.labels, key);
	/* A feature file may say what another scanner's keys are for. */
	if (label)
		scanner = nfd_scanner_of_label(label);
	if (label)
		put_found(context, label, scanner, &buf);
	else
		put_missing(context, key, &scan, scanner, &buf);
	if (scanner)
		nfd_strbuf_printf(&buf, "scanner: %s, %s\n", scanner->name, scanner->summary);
	put_vendor(context, scanner, &buf);
	put_feature_file(context, key, &buf);
	exit_code = nfd_print(&buf);
	if (exit_code == NFD_EXIT_DONE)
		exit_code = show_node(context, key);
	if (exit_code == NFD_EXIT_DONE && (!label || label->stopped_by))
		exit_code = NFD_EXIT_FAILED;
	nfd_scan_done(&scan);
	return exit_code;
}

const struct nfd_command nfd_cmd_explain = {
	.name = "explain",
	.summary = "tell why a label is there or not",
	.operand = "KEY",
	.reads_host = true,
	.run = run,
};
