// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a scanner without the table around it, so that a row sees its labels alone.
 */
#include "config.h"

#include "tests/unit/scan_text.h"

#include <string.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "scan/pci_bus.h"
#include "scan/scan.h"
#include "tests/unit/unit.h"

static char *pci_classes[] = { (char[]){ "02" }, (char[]){ "03" }, (char[]){ "0b40" },
			       (char[]){ "12" } };
static char *usb_classes[] = { (char[]){ "0e" }, (char[]){ "ef" }, (char[]){ "fe" },
			       (char[]){ "ff" } };
static char *kernel_opts[] = { (char[]){ "NO_HZ" }, (char[]){ "NO_HZ_IDLE" },
			       (char[]){ "NO_HZ_FULL" }, (char[]){ "PREEMPT" } };
static char no_pattern[] = "";

struct nfd_scan_options scan_options(unsigned int fields)
{
	return (struct nfd_scan_options){
		.label_white_list = no_pattern,
		.pci = { { pci_classes, NFD_ARRAY_SIZE(pci_classes) }, fields ? fields : 0x3 },
		.usb = { { usb_classes, NFD_ARRAY_SIZE(usb_classes) }, fields ? fields : 0x7 },
		.kernel = { .config_opts = { kernel_opts, NFD_ARRAY_SIZE(kernel_opts) } },
		.node_name = "node-a",
	};
}

static const char *short_key(const char *key)
{
	size_t len = strlen(NFD_F);

	return strncmp(key, NFD_F, len) == 0 ? key + len : key;
}

static const char *render(const struct nfd_scan *scan)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	for (size_t i = 0; i < scan->labels.count; i++) {
		const struct nfd_label *label = &scan->labels.label[i];

		if (label->stopped_by)
			nfd_strbuf_printf(&buf, "stopped %s %s\n", short_key(label->key),
					  label->stopped_by);
		else
			nfd_strbuf_printf(&buf, "%s=%s\n", short_key(label->key), label->value);
	}
	for (size_t i = 0; i < scan->unknowns.count; i++)
		nfd_strbuf_printf(&buf, "%s %s\n",
				  scan->unknowns.unknown[i].doubt ? "doubt" : "unknown",
				  short_key(scan->unknowns.unknown[i].prefix));
	if (scan->incomplete)
		nfd_strbuf_puts(&buf, "incomplete\n");
	return unit_text("%s", nfd_strbuf_text(&buf));
}

/* " KEY=VALUE" or " KEY" for each. */
static void render_elements(struct nfd_strbuf *buf, const cJSON *elements)
{
	const cJSON *element;

	cJSON_ArrayForEach(element, elements) {
		nfd_strbuf_printf(buf, " %s", element->string);
		if (cJSON_IsString(element))
			nfd_strbuf_printf(buf, "=%s", element->valuestring);
	}
	nfd_strbuf_puts(buf, "\n");
}

static void render_feature(struct nfd_strbuf *buf, const char *kind, const cJSON *feature)
{
	const cJSON *elements = nfd_json_get(feature, "elements"), *instance;

	assert_non_null(elements);
	if (cJSON_IsArray(elements)) {
		cJSON_ArrayForEach(instance, elements) {
			nfd_strbuf_printf(buf, "instance %s", feature->string);
			render_elements(buf, nfd_json_object(instance, "attributes"));
		}
		if (cJSON_GetArraySize(elements) > 0)
			return;
	}
	nfd_strbuf_printf(buf, "%s %s", kind, feature->string);
	render_elements(buf, elements);
}

/* As a reader of the object sees them: long lists are text until somebody parses it. */
static const char *render_features(const cJSON *written)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	char *text = written ? cJSON_PrintUnformatted(written) : NULL;
	cJSON *features = cJSON_Parse(text ? text : "{}");
	const cJSON *kind, *feature;

	assert_non_null(features);
	cJSON_ArrayForEach(kind, features) {
		cJSON_ArrayForEach(feature, kind)
			render_feature(&buf, kind->string, feature);
	}
	cJSON_Delete(features);
	cJSON_free(text);
	return unit_text("%s", nfd_strbuf_text(&buf));
}

/* What nfd-worker finds is nfd-worker's, unless the request says otherwise. */
static const struct nfd_vendors own = { .of = { [NFD_VENDOR_NFD] = { .verdict =
									     NFD_VENDOR_LEAVE } } };

static int run_table(const struct nfd_scan_request *request, struct nfd_scan *scan)
{
	struct nfd_scan_request copy = *request;

	if (!copy.vendors)
		copy.vendors = &own;
	return nfd_scan_run(scan, &copy, NULL);
}

/* The labels, and in @ret_features what there is of features; a scanner on its own is in nfd-worker's place. */
static const char *run(const struct nfd_scanner *scanner, const struct nfd_scan_request *request,
		       const char **ret_features)
{
	struct nfd_scan scan = {
		.root = request->root,
		.options = request->options,
		.cpu = request->cpu,
		.nvml = request->nvml,
		.all_devices = request->all_devices,
		.features = request->features ? nfd_features_new() : NULL,
		.stands_in = true,
	};
	const char *text;

	if (scanner)
		scanner->run(&scan);
	else
		assert_int_equal(run_table(request, &scan), 0);
	assert_int_equal(scan.error, 0);
	text = render(&scan);
	if (ret_features)
		*ret_features = render_features(scan.features);
	nfd_scan_done(&scan);
	return text;
}

const char *scan_text(const struct nfd_scanner *scanner, const struct nfd_root *root,
		      const struct nfd_scan_options *options, bool all_devices)
{
	const struct nfd_scan_request request = { .root = root,
						  .options = options,
						  .all_devices = all_devices };

	return run(scanner, &request, NULL);
}

const char *scan_text_nvml(const struct nfd_scanner *scanner, const struct nfd_root *root,
			   const struct nfd_scan_options *options, const struct nfd_nvml *nvml)
{
	const struct nfd_scan_request request = { .root = root, .options = options, .nvml = nvml };

	return run(scanner, &request, NULL);
}

const char *scan_features(const struct nfd_scanner *scanner, const struct nfd_root *root,
			  const struct nfd_scan_options *options)
{
	const struct nfd_scan_request request = { .root = root,
						  .options = options,
						  .features = true };
	const char *features;

	run(scanner, &request, &features);
	return features;
}

const char *scan_text_request(const struct nfd_scanner *scanner,
			      const struct nfd_scan_request *request)
{
	const char *features, *text = run(scanner, request, &features);

	return unit_text("%s%s", text, features);
}

static void check_features(const struct nfd_scanner *scanner, const struct scan_row *row,
			   const struct nfd_scan_request *request)
{
	const char *features;

	assert_string_equal(run(scanner, request, &features), row->text);
	assert_string_equal(features, row->features);
}

void scan_check_row(const struct nfd_scanner *scanner, const struct scan_row *row)
{
	const struct nfd_scan_options options = scan_options(row->fields);
	struct nfd_scan_request request = { .options = &options, .all_devices = row->all_devices };
	const char *tree = tree_new();

	tree_fill(tree, row->tree);
	for (int no_openat2 = 0; no_openat2 <= 1; no_openat2++) {
		request.root = tree_root(tree, no_openat2);
		request.features = false;
		assert_string_equal(run(scanner, &request, NULL), row->text);
		request.features = true;
		if (row->features)
			check_features(scanner, row, &request);
	}
}
