// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Upstream's quirk: one CPU without its topology, as offline ones are, and there is no answer.
 */
#include "config.h"

#include "scan/cpu_topology.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "scan/cpu_element.h"
#include "scan/tally.h"

static const struct nfd_cpu_element multithreading = { "topology", "hardware_multithreading",
						       "hardware_multithreading" };
static const struct nfd_cpu_element sockets = { "topology", "socket_count", NULL };

struct topology {
	bool has_siblings;
	struct nfd_tally packages;
};

/* One CPU; on failure @path is what could not be read. */
static int read_cpu(const struct nfd_root *root, const char *cpu, struct topology *topology,
		    char path[512])
{
	char text[4097];
	ssize_t len;

	snprintf(path, 512, NFD_CPU_DEVICES "/%s/topology/thread_siblings_list", cpu);
	len = nfd_root_read_line(root, path, text, sizeof(text));
	if (len < 0)
		return (int)len;
	topology->has_siblings |= strpbrk(text, ",-") != NULL;
	snprintf(path, 512, NFD_CPU_DEVICES "/%s/topology/physical_package_id", cpu);
	len = nfd_root_read_line(root, path, text, sizeof(text));
	return len < 0 ? (int)len : nfd_tally_add(&topology->packages, text);
}

static int read_all(const struct nfd_root *root, struct topology *topology, char path[512])
{
	cleanup_names struct nfd_names names = { 0 };
	int r;

	snprintf(path, 512, NFD_CPU_DEVICES);
	r = nfd_root_list(root, path, &names);
	for (size_t i = 0; i < names.count && r == 0; i++)
		r = read_cpu(root, names.name[i], topology, path);
	return r;
}

void nfd_cpu_topology(struct nfd_scan *scan)
{
	struct topology topology = { 0 };
	char path[512];
	int r = read_all(scan->root, &topology, path);

	if (r < 0) {
		nfd_cpu_failed(scan, &multithreading, path, r);
	} else {
		nfd_cpu_put(scan, &multithreading, topology.has_siblings ? "true" : "false",
			    NFD_CPU_DEVICES);
		nfd_cpu_put_number(scan, &sockets, topology.packages.count, NFD_CPU_DEVICES);
	}
	if (r == -ENOMEM)
		scan->error = r;
	nfd_tally_done(&topology.packages);
}
