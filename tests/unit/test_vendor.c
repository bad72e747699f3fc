// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/vendor: who writes which vendor's labels.
 */
#include "config.h"

#include "scan/vendor.h"

#include <string.h>

#include "base/json.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

static void table_is_sound(void **state)
{
	(void)state;
	for (int i = NFD_VENDOR_NONE + 1; i < NFD_VENDOR_COUNT; i++) {
		const struct nfd_labeller *labeller = nfd_labeller((enum nfd_vendor)i);

		assert_true(labeller->name && labeller->name[0]);
		assert_int_equal(strncmp(labeller->setting, "sources.", 8), 0);
		assert_true(labeller->files && labeller->objects && labeller->keys);
		/* What nobody else writes has no signs; what somebody writes has at least one. */
		assert_int_equal(labeller->program != NULL,
				 labeller->files[0] || labeller->objects[0] || labeller->keys[0]);
	}
}

static const struct {
	const char *name;
	enum nfd_vendor vendor;
	int mode;
	struct tree_entry file[2]; /* in features.d */
	const char *seen;          /* of the API server, JSON; NULL: it was not asked */
	bool is_pending;
	enum nfd_vendor_verdict verdict;
	const char *why; /* part of it */
} rows[] = {
	{ "nobody else",
	  NFD_VENDOR_NVIDIA,
	  NFD_VENDOR_AUTO,
	  { { 0 } },
	  NULL,
	  false,
	  NFD_VENDOR_WRITE,
	  "gpu-feature-discovery is not here" },
	{ "its file",
	  NFD_VENDOR_NVIDIA,
	  NFD_VENDOR_AUTO,
	  { FILE_AT("gfd", "") },
	  "{}",
	  false,
	  NFD_VENDOR_LEAVE,
	  "/gfd" },
	{ "its temporary file",
	  NFD_VENDOR_NVIDIA,
	  NFD_VENDOR_AUTO,
	  { FILE_AT(".gfd1", "") },
	  "{}",
	  false,
	  NFD_VENDOR_WRITE,
	  "is not here" },
	{ "seen by the API server",
	  NFD_VENDOR_AMD,
	  NFD_VENDOR_AUTO,
	  { { 0 } },
	  "{\"amd\":\"label x on the Node\"}",
	  false,
	  NFD_VENDOR_LEAVE,
	  "AMD's node labeller writes them: label x on the Node" },
	{ "another one is seen",
	  NFD_VENDOR_AMD,
	  NFD_VENDOR_AUTO,
	  { { 0 } },
	  "{\"nvidia\":\"x\"}",
	  false,
	  NFD_VENDOR_WRITE,
	  "is not here" },
	{ "being asked",
	  NFD_VENDOR_INTEL,
	  NFD_VENDOR_AUTO,
	  { { 0 } },
	  NULL,
	  true,
	  NFD_VENDOR_WAIT,
	  "the API server is asked" },
	{ "a file needs no question",
	  NFD_VENDOR_NVIDIA,
	  NFD_VENDOR_AUTO,
	  { FILE_AT("gfd", "") },
	  NULL,
	  true,
	  NFD_VENDOR_LEAVE,
	  "/gfd" },
	{ "no question where nobody could be",
	  NFD_VENDOR_MELLANOX,
	  NFD_VENDOR_AUTO,
	  { { 0 } },
	  NULL,
	  true,
	  NFD_VENDOR_WRITE,
	  "no other program" },
	{ "on",
	  NFD_VENDOR_NVIDIA,
	  NFD_VENDOR_ON,
	  { FILE_AT("gfd", "") },
	  "{\"nvidia\":\"x\"}",
	  true,
	  NFD_VENDOR_WRITE,
	  "the setting is on" },
	{ "off",
	  NFD_VENDOR_TPU,
	  NFD_VENDOR_OFF,
	  { { 0 } },
	  NULL,
	  false,
	  NFD_VENDOR_LEAVE,
	  "the setting is off" },
	{ "words of another type",
	  NFD_VENDOR_AMD,
	  NFD_VENDOR_AUTO,
	  { { 0 } },
	  "{\"amd\":5}",
	  false,
	  NFD_VENDOR_WRITE,
	  "is not here" },
};

static void decides(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	struct nfd_vendor_options options = { 0 };
	cJSON *seen = row->seen ? cJSON_Parse(row->seen) : NULL;
	const struct nfd_vendor_view view = { .seen = seen, .is_pending = row->is_pending };
	const char *tree = tree_new();
	struct nfd_vendors vendors;

	tree_fill(tree, row->file);
	options.labels[row->vendor] = row->mode;
	nfd_vendors_decide(&options, tree, row->seen || row->is_pending ? &view : NULL, &vendors);
	assert_int_equal(vendors.of[row->vendor].verdict, row->verdict);
	unit_assert_contains(vendors.of[row->vendor].why, row->why);
	cJSON_Delete(seen);
}

static const struct {
	const char *name, *seen, *coming;
	enum nfd_vendor_verdict verdict;
	const char *why; /* part of it */
} coming_rows[] = {
	{ "nothing", "{}", "{}", NFD_VENDOR_WRITE, "is not here" },
	{ "its object", "{}", "{\"nvidia\":\"NodeFeature x\"}", NFD_VENDOR_WAIT,
	  "gpu-feature-discovery is about to, and NFD has not brought them yet: NodeFeature x" },
	{ "another's object", "{}", "{\"amd\":\"NodeFeature x\"}", NFD_VENDOR_WRITE,
	  "is not here" },
	{ "it has come", "{\"nvidia\":\"label x\"}", "{\"nvidia\":\"NodeFeature x\"}",
	  NFD_VENDOR_LEAVE, "writes them: label x" },
	{ "words of another type", "{}", "{\"nvidia\":{}}", NFD_VENDOR_WRITE, "is not here" },
};

static void waits_for_what_is_coming(void **state)
{
	const __typeof__(coming_rows[0]) *row = *state;
	struct nfd_vendor_options options = { 0 };
	cJSON *seen = cJSON_Parse(row->seen);
	cJSON *coming = cJSON_Parse(row->coming);
	const struct nfd_vendor_view view = { .seen = seen, .coming = coming };
	struct nfd_vendors vendors;

	nfd_vendors_decide(&options, tree_new(), &view, &vendors);
	assert_int_equal(vendors.of[NFD_VENDOR_NVIDIA].verdict, row->verdict);
	unit_assert_contains(vendors.of[NFD_VENDOR_NVIDIA].why, row->why);
	cJSON_Delete(seen);
	cJSON_Delete(coming);
}

static void asks_for_what_is_here(void **state)
{
	struct nfd_vendor_options options = { 0 };
	const unsigned int found =
		1U << NFD_VENDOR_NVIDIA | 1U << NFD_VENDOR_AMD | 1U << NFD_VENDOR_TPU;
	cJSON *list = NULL;

	(void)state;
	options.labels[NFD_VENDOR_AMD] = NFD_VENDOR_ON;
	assert_int_equal(nfd_vendors_ask(&options, found, &list), 0);
	assert_int_equal(cJSON_GetArraySize(list), 1);
	assert_string_equal(nfd_json_text(cJSON_GetArrayItem(list, 0), "name"), "nvidia");
	assert_int_equal(nfd_json_length(cJSON_GetArrayItem(list, 0), "objects"), 1);
	cJSON_Delete(list);
	assert_int_equal(nfd_vendors_ask(&options, 1U << NFD_VENDOR_TPU, &list), 0);
	assert_null(list);
}

static void knows_signs(void **state)
{
	(void)state;
	assert_true(nfd_vendor_is_sign("nvidia.com/gpu.product"));
	assert_true(nfd_vendor_is_sign("gpu.intel.com/cards"));
	assert_true(nfd_vendor_is_sign("intel.feature.node.kubernetes.io/gaudi"));
	assert_false(nfd_vendor_is_sign("intel.feature.node.kubernetes.io/gaudi-scale-out"));
	assert_false(nfd_vendor_is_sign("nvidia.com/gpu.present"));
	assert_false(nfd_vendor_is_sign(""));
}

/* NFD: its labels are nfd-worker's, and ours where a person says so or none is seen. */
static const struct {
	const char *name;
	int mode, worker_pid;
	bool file_alone;
	const char *seen, *coming;
	enum nfd_vendor_verdict verdict;
	const char *why;
} nfd_rows[] = {
	{ "own", NFD_VENDOR_OFF, 0, false, NULL, NULL, NFD_VENDOR_LEAVE, "sources.mode is own" },
	{ "own, beside a worker", NFD_VENDOR_OFF, 12, true, NULL, NULL, NFD_VENDOR_LEAVE,
	  "sources.mode is own, and nfd-worker runs here: process 12" },
	{ "all, beside a worker", NFD_VENDOR_ON, 12, true, "x", "x", NFD_VENDOR_WRITE,
	  "sources.mode is all" },
	{ "auto, nobody", NFD_VENDOR_AUTO, 0, false, NULL, NULL, NFD_VENDOR_WRITE,
	  "nfd-worker is not here" },
	{ "auto, a process", NFD_VENDOR_AUTO, 12, false, NULL, NULL, NFD_VENDOR_LEAVE,
	  "nfd-worker writes them: process 12" },
	{ "auto, a file for a worker", NFD_VENDOR_AUTO, 0, true, NULL, NULL, NFD_VENDOR_LEAVE,
	  "only a feature file is written, for nfd-worker" },
	{ "auto, its object", NFD_VENDOR_AUTO, 0, false, "NodeFeature nfd/n", NULL,
	  NFD_VENDOR_LEAVE, "nfd-worker writes them: NodeFeature nfd/n" },
	{ "auto, its object not yet read", NFD_VENDOR_AUTO, 0, false, NULL, "NodeFeature nfd/n",
	  NFD_VENDOR_WAIT, "is about to" },
};

static cJSON *words(const char *text)
{
	cJSON *object = cJSON_CreateObject();

	if (text)
		cJSON_AddStringToObject(object, "nfd", text);
	return object;
}

static void decides_for_nfd(void **state)
{
	const __typeof__(nfd_rows[0]) *row = *state;
	struct nfd_vendor_options options = { .labels = { [NFD_VENDOR_NFD] = row->mode } };
	cJSON *seen = words(row->seen), *coming = words(row->coming);
	const struct nfd_vendor_view view = {
		.seen = seen,
		.coming = coming,
		.worker_pid = row->worker_pid,
		.file_alone = row->file_alone,
	};
	struct nfd_vendors vendors;

	nfd_vendors_decide(&options, tree_new(), &view, &vendors);
	assert_int_equal(vendors.of[NFD_VENDOR_NFD].verdict, row->verdict);
	unit_assert_contains(vendors.of[NFD_VENDOR_NFD].why, row->why);
	/* A worker is no sign of another vendor's program. */
	assert_int_equal(vendors.of[NFD_VENDOR_NVIDIA].verdict, NFD_VENDOR_WRITE);
	cJSON_Delete(seen);
	cJSON_Delete(coming);
}

int main(void)
{
	struct unit_suite suite = { .name = "vendor" };

	UNIT_CASE(&suite, table_is_sound);
	UNIT_ROWS(&suite, decides, rows, name);
	UNIT_ROWS(&suite, decides_for_nfd, nfd_rows, name);
	UNIT_ROWS(&suite, waits_for_what_is_coming, coming_rows, name);
	UNIT_CASE(&suite, asks_for_what_is_here);
	UNIT_CASE(&suite, knows_signs);
	return unit_run(&suite);
}
