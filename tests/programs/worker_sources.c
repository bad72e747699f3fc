// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints what the scanners in the place of nfd-worker's sources kernel, memory, network, storage and
 * system find below a root, for comparison with the worker itself:
 *
 *     worker_sources ROOT NODE [KERNEL-CONFIG]
 *
 * One JSON object with "labels", "features" (as in a NodeFeature) and "unknown" (key prefixes).
 * Exit: 0 done, 1 failed, 2 usage.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "scan/kernel.h"
#include "scan/kernel_config.h"
#include "scan/kernel_modules.h"
#include "scan/kernel_state.h"
#include "scan/memory.h"
#include "scan/network.h"
#include "scan/os_release.h"
#include "scan/scan.h"
#include "scan/storage.h"
#include "scan/system.h"

static const struct nfd_scanner *const scanners[] = {
	&nfd_kernel_scanner,       &nfd_kernel_config_scanner, &nfd_kernel_modules_scanner,
	&nfd_kernel_state_scanner, &nfd_memory_scanner,        &nfd_network_scanner,
	&nfd_os_release_scanner,   &nfd_storage_scanner,       &nfd_system_scanner,
};

static bool add_labels(cJSON *object, const struct nfd_set *set)
{
	cJSON *labels = cJSON_AddObjectToObject(object, "labels");
	bool ok = labels != NULL;

	for (size_t i = 0; ok && i < set->count; i++)
		ok = nfd_json_add_text(labels, set->label[i].key, set->label[i].value);
	return ok;
}

static bool add_unknown(cJSON *object, const struct nfd_unknowns *unknowns)
{
	cJSON *list = cJSON_AddArrayToObject(object, "unknown");
	bool ok = list != NULL;

	for (size_t i = 0; ok && i < unknowns->count; i++)
		ok = cJSON_AddItemToArray(list, nfd_json_new_text(unknowns->unknown[i].prefix));
	return ok;
}

/* Returns whether it was printed. */
static bool print(struct nfd_scan *scan)
{
	cJSON *object = cJSON_CreateObject();
	char *text = NULL;
	bool ok = object && add_labels(object, &scan->labels) &&
		  add_unknown(object, &scan->unknowns) &&
		  cJSON_AddItemToObject(object, "features", scan->features);

	if (ok) {
		scan->features = NULL;
		text = cJSON_Print(object);
	}
	ok = text && puts(text) >= 0 && fflush(stdout) == 0;
	cJSON_free(text);
	cJSON_Delete(object);
	return ok;
}

static int scan_root(const struct nfd_root *root, const struct nfd_scan_options *options)
{
	struct nfd_scan scan = { .root = root, .options = options, .features = nfd_features_new() };
	bool ok;

	for (size_t i = 0; i < NFD_ARRAY_SIZE(scanners); i++)
		scanners[i]->run(&scan);
	ok = scan.error == 0 && scan.features && print(&scan);
	nfd_scan_done(&scan);
	return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
	char *opts[] = { (char[]){ "NO_HZ" }, (char[]){ "NO_HZ_IDLE" }, (char[]){ "NO_HZ_FULL" },
			 (char[]){ "PREEMPT" } };
	struct nfd_scan_options options = { .kernel = { .config_opts = { opts,
									 NFD_ARRAY_SIZE(opts) } } };
	struct nfd_error err = { 0 };
	struct nfd_root root;
	int r;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: worker_sources ROOT NODE [KERNEL-CONFIG]\n");
		return 2;
	}
	options.node_name = argv[2];
	options.kernel.config_file = argv[3];
	r = nfd_root_open(&root, argv[1], &err);
	if (r < 0)
		fprintf(stderr, "worker_sources: %s\n", nfd_error_text(&err));
	r = r < 0 ? 1 : scan_root(&root, &options);
	nfd_root_close(&root);
	return r;
}
