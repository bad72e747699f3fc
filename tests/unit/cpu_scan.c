// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the cpu scanner alone on a root, with the facts of this processor and NFD's default deny list, and
 * prints {"labels":{KEY:VALUE},"features":{...}} for comparison with nfd-worker.
 *
 *     cpu_scan ROOT
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/cpu.h"
#include "scan/cpu_live.h"
#include "scan/cpuid.h"
#include "scan/scan.h"

#define DENIED_MAX 64

/* The default list as texts; they point into @list, which is changed. */
static struct nfd_texts split(char *list, char *text[DENIED_MAX])
{
	struct nfd_texts texts = { .text = text };
	char *save = NULL;

	for (char *word = strtok_r(list, ",", &save); word && texts.count < DENIED_MAX;
	     word = strtok_r(NULL, ",", &save))
		text[texts.count++] = word;
	return texts;
}

static int print(const struct nfd_scan *scan)
{
	cJSON *result = cJSON_CreateObject();
	cJSON *labels = cJSON_AddObjectToObject(result, "labels");
	char *text;

	for (size_t i = 0; i < scan->labels.count; i++)
		if (!scan->labels.label[i].stopped_by)
			cJSON_AddStringToObject(labels, scan->labels.label[i].key,
						scan->labels.label[i].value);
	cJSON_AddItemReferenceToObject(result, "features", scan->features);
	text = cJSON_PrintUnformatted(result);
	cJSON_Delete(result);
	if (!text)
		return 1;
	puts(text);
	cJSON_free(text);
	return 0;
}

int main(int argc, char **argv)
{
	static struct nfd_cpu_facts facts;
	char *list = strdup(nfd_cpuid_denied), *text[DENIED_MAX];
	struct nfd_scan_options options = { 0 };
	struct nfd_root root;
	struct nfd_error err = { 0 };
	struct nfd_scan scan = { .root = &root, .options = &options, .cpu = &facts };
	int r;

	if (argc != 2 || !list || nfd_root_open(&root, argv[1], &err) < 0)
		return 2;
	options.cpu.flag_black_list = split(list, text);
	nfd_cpu_live(&facts);
	scan.features = nfd_features_new();
	nfd_cpu_scanner.run(&scan);
	r = scan.error < 0 ? 1 : print(&scan);
	nfd_scan_done(&scan);
	nfd_root_close(&root);
	free(list);
	return r;
}
