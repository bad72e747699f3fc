// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines of a kernel log: the list stays within its bounds, an address is one or none.
 */
#include "config.h"

#include <string.h>

#include "doctor/kernel_log.h"
#include "tests/fuzz/fuzz.h"

static void check(const struct nfd_log_line *line)
{
	unsigned int domain, bus, device, function;

	FUZZ_CHECK(memchr(line->text, '\0', sizeof(line->text)) && line->text[0]);
	FUZZ_CHECK(memchr(line->address, '\0', sizeof(line->address)));
	FUZZ_CHECK(line->kind <= NFD_KERNEL_XID);
	if (line->address[0])
		FUZZ_CHECK(sscanf(line->address, "%x:%x:%x.%x", &domain, &bus, &device,
				  &function) == 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	struct nfd_kernel_log log = { 0 };
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n")) != NULL) {
		nfd_kernel_log_take(&log, line);
		FUZZ_CHECK(log.count <= NFD_KERNEL_LINES_MAX);
		if (log.count)
			check(&log.line[log.count - 1]);
	}
	return 0;
}
