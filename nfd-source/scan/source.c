// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unlike in nfd-worker, a name that is no source is an error: it would leave out silently what somebody
 * meant to have.
 */
#include "config.h"

#include "scan/source.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/macros.h"

#define BIT(source) (1U << (source))
#define EACH ((BIT(NFD_SOURCE_COUNT) - 1) & ~BIT(NFD_SOURCE_NONE))
#define ALL (EACH & ~BIT(NFD_SOURCE_FAKE)) /* what the word "all" stands for */

static const char *const names[NFD_SOURCE_COUNT] = {
	[NFD_SOURCE_NONE] = "",         [NFD_SOURCE_CPU] = "cpu",
	[NFD_SOURCE_CUSTOM] = "custom", [NFD_SOURCE_FAKE] = "fake",
	[NFD_SOURCE_KERNEL] = "kernel", [NFD_SOURCE_LOCAL] = "local",
	[NFD_SOURCE_MEMORY] = "memory", [NFD_SOURCE_NETWORK] = "network",
	[NFD_SOURCE_PCI] = "pci",       [NFD_SOURCE_STORAGE] = "storage",
	[NFD_SOURCE_SYSTEM] = "system", [NFD_SOURCE_USB] = "usb",
};

/* The bits that a word stands for; 0 when it is no source. */
static unsigned int bits_of(const char *word)
{
	if (strcmp(word, "all") == 0)
		return ALL;
	for (unsigned int i = NFD_SOURCE_NONE + 1; i < NFD_SOURCE_COUNT; i++)
		if (strcmp(names[i], word) == 0)
			return BIT(i);
	return 0;
}

int nfd_sources_parse(const char *const *text, size_t count, unsigned int *ret_off,
		      struct nfd_error *err)
{
	unsigned int on = 0;

	for (size_t i = 0; i < count; i++) {
		bool takes_out = text[i][0] == '-' && strcmp(text[i], "-all") != 0;
		unsigned int bits = bits_of(text[i] + takes_out);

		if (!bits)
			return nfd_error_set(err, -EINVAL,
					     "\"%.100s\" is no source; allowed: all, cpu, custom, "
					     "fake, kernel, local, memory, network, pci, storage, "
					     "system, usb, and a name with \"-\" before it",
					     text[i]);
		on = takes_out ? on & ~bits : on | bits;
	}
	*ret_off = EACH & ~on;
	return 0;
}

static void put_names(unsigned int bits, const char *sign, struct nfd_strbuf *buf)
{
	for (unsigned int i = NFD_SOURCE_NONE + 1; i < NFD_SOURCE_COUNT; i++)
		if (bits & BIT(i))
			nfd_strbuf_printf(buf, "%s%s%s", buf->len ? "," : "", sign, names[i]);
}

void nfd_sources_format(unsigned int off, struct nfd_strbuf *buf)
{
	cleanup_strbuf struct nfd_strbuf list = { 0 };
	unsigned int on = EACH & ~off, missing = ALL & off;

	if (__builtin_popcount(missing) < __builtin_popcount(on)) {
		nfd_strbuf_puts(&list, "all");
		put_names(missing, "-", &list);
		put_names(on & ~ALL, "", &list);
	} else {
		put_names(on, "", &list);
	}
	nfd_strbuf_puts(buf, nfd_strbuf_text(&list));
}
