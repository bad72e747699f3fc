// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Groups of labels by the beginnings of their keys: a group is written, or its last values stay.
 */
#include "config.h"

#include "scan/gfd.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* Beginnings of keys; a group may have several. */
static const struct {
	enum nfd_gfd_group group;
	const char *prefix;
} prefixes_of[] = {
	{ NFD_GFD_DRIVER, NFD_GFD "cuda.driver" },
	{ NFD_GFD_CUDA, NFD_GFD "cuda.runtime" },
	{ NFD_GFD_MIG_CAPABLE, NFD_GFD "mig.capable" },
	{ NFD_GFD_MIG_STRATEGY, NFD_GFD "mig.strategy" },
	{ NFD_GFD_MPS, NFD_GFD "mps." },
	{ NFD_GFD_MODEL, NFD_GFD "gpu.product" },
	{ NFD_GFD_MODEL, NFD_GFD "gpu.count" },
	{ NFD_GFD_SHARING, NFD_GFD "gpu.replicas" },
	{ NFD_GFD_SHARING, NFD_GFD "gpu.sharing-strategy" },
	{ NFD_GFD_MEMORY, NFD_GFD "gpu.memory" },
	{ NFD_GFD_FAMILY, NFD_GFD "gpu.family" },
	{ NFD_GFD_FAMILY, NFD_GFD "gpu.compute." },
	{ NFD_GFD_MIG, NFD_GFD "gpu.multiprocessors" },
	{ NFD_GFD_MIG, NFD_GFD "gpu.slices." },
	{ NFD_GFD_MIG, NFD_GFD "gpu.engines." },
	{ NFD_GFD_MIG, NFD_GFD "mig-" },
	{ NFD_GFD_MODE, NFD_GFD "gpu.mode" },
	{ NFD_GFD_CLIQUE, NFD_GFD "gpu.clique" },
};

void nfd_gfd_lose(struct nfd_gfd *gfd, unsigned int groups, const char *reason, bool is_doubt)
{
	groups &= ~gfd->lost;
	gfd->lost |= groups;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(prefixes_of); i++)
		if (groups & prefixes_of[i].group)
			(is_doubt ? nfd_scan_doubt :
				    nfd_scan_unknown)(gfd->scan, prefixes_of[i].prefix, reason);
}

static void nfd_printf_like(5, 0)
	put(struct nfd_gfd *gfd, enum nfd_gfd_group group, const char *value, const char *path,
	    const char *fmt, va_list args)
{
	const struct nfd_finding finding = {
		.rank = NFD_RANK_NORMAL, .value = value, .path = path, .is_stopgap = gfd->is_stopgap
	};
	char suffix[NFD_LABEL_KEY_SIZE];

	if (gfd->lost & group)
		return;
	vsnprintf(suffix, sizeof(suffix), fmt, args);
	nfd_scan_label(gfd->scan, &finding, NFD_GFD "%s", suffix);
}

void nfd_gfd_put(struct nfd_gfd *gfd, enum nfd_gfd_group group, const char *value, const char *path,
		 const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	put(gfd, group, value, path, fmt, args);
	va_end(args);
}

void nfd_gfd_put_number(struct nfd_gfd *gfd, enum nfd_gfd_group group, uint64_t value,
			const char *path, const char *fmt, ...)
{
	char text[24];
	va_list args;

	snprintf(text, sizeof(text), "%" PRIu64, value);
	va_start(args, fmt);
	put(gfd, group, text, path, fmt, args);
	va_end(args);
}

const char *nfd_gfd_mode(const struct nfd_pci_function *function)
{
	return function->class_code >> 8 == 0x0300 ? "graphics" : "compute";
}
