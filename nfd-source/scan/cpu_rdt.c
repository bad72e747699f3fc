// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bits of cpu.rdt by name, and the number of cache classes that are left for users.
 */
#include "config.h"

#include "scan/cpu_rdt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "scan/cpu_element.h"

#define MOUNTS "proc/self/mounts"
#define MOUNTS_MAX (1 << 20)
#define USUAL_PLACE "sys/fs/resctrl"
#define CLOSIDS "info/L3/num_closids"

static const struct {
	enum nfd_cpu_rdt bit;
	struct nfd_cpu_element element;
} bits[] = {
	{ NFD_RDT_MONITORING, { "rdt", "RDTMON", NULL } },
	{ NFD_RDT_OCCUPANCY, { "rdt", "RDTCMT", NULL } },
	{ NFD_RDT_BANDWIDTH_MONITORING, { "rdt", "RDTMBM", NULL } },
	{ NFD_RDT_L3_ALLOCATION, { "rdt", "RDTL3CA", NULL } },
	{ NFD_RDT_L2_ALLOCATION, { "rdt", "RDTL2CA", NULL } },
	{ NFD_RDT_BANDWIDTH_ALLOCATION, { "rdt", "RDTMBA", NULL } },
};

/* The folder of the first mount of type resctrl, without its leading slash; "" when there is none. */
static void find_mount(struct nfd_scan *scan, char *ret, size_t size)
{
	cleanup_free char *text = NULL;
	char *save = NULL, place[256], type[16];

	ret[0] = '\0';
	if (nfd_root_read_alloc(scan->root, MOUNTS, MOUNTS_MAX, &text) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (sscanf(line, "%*s /%255s %15s", place, type) == 2 &&
		    strcmp(type, "resctrl") == 0) {
			snprintf(ret, size, "%s", place);
			return;
		}
}

/* Classes of the cache, less the one that all begin in. */
static void add_closids(struct nfd_scan *scan)
{
	static const struct nfd_cpu_element element = { "rdt", "RDTL3CA_NUM_CLOSID", NULL };
	char path[320] = USUAL_PLACE "/" CLOSIDS, place[256], text[32];
	ssize_t len = nfd_root_read_line(scan->root, path, text, sizeof(text));
	int64_t count;

	if (len < 0) {
		find_mount(scan, place, sizeof(place));
		snprintf(path, sizeof(path), "%s/" CLOSIDS, place);
		len = place[0] ? nfd_root_read_line(scan->root, path, text, sizeof(text)) : len;
	}
	if (len > 0 && nfd_parse_int(text, &count) == 0 && count > 0)
		nfd_cpu_put_number(scan, &element, (uint64_t)count - 1, path);
}

void nfd_cpu_rdt(struct nfd_scan *scan)
{
	unsigned int rdt = scan->cpu ? scan->cpu->rdt : 0;

	/* No label hangs on these: where nobody wants features there is nothing to read. */
	if (!scan->features)
		return;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(bits); i++)
		if (rdt & bits[i].bit)
			nfd_cpu_put(scan, &bits[i].element, "true", "CPUID");
	if (rdt & NFD_RDT_L3_ALLOCATION)
		add_closids(scan);
}
