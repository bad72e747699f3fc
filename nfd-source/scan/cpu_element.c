// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Elements of the cpu scanner's raw features, with their labels.
 */
#include "config.h"

#include "scan/cpu_element.h"

#include <inttypes.h>
#include <stdio.h>

void nfd_cpu_put(struct nfd_scan *scan, const struct nfd_cpu_element *element, const char *value,
		 const char *path)
{
	const struct nfd_finding finding = { .rank = NFD_RANK_NORMAL,
					     .value = value,
					     .path = path };
	char feature[64];

	snprintf(feature, sizeof(feature), "cpu.%s", element->feature);
	nfd_scan_feature(scan, feature, element->name, value);
	if (element->label)
		nfd_scan_label(scan, &finding, NFD_CPU_KEY "%s", element->label);
}

void nfd_cpu_put_number(struct nfd_scan *scan, const struct nfd_cpu_element *element,
			uint64_t value, const char *path)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	nfd_cpu_put(scan, element, text, path);
}

void nfd_cpu_failed(struct nfd_scan *scan, const struct nfd_cpu_element *element, const char *path,
		    int code)
{
	char prefix[128];

	if (!element->label)
		return;
	snprintf(prefix, sizeof(prefix), NFD_CPU_KEY "%s", element->label);
	nfd_scan_failed(scan, prefix, path, code);
}

bool nfd_cpu_may_be(const struct nfd_scan *scan, enum nfd_cpu_arch arch)
{
	return !scan->cpu || scan->cpu->arch == arch;
}
