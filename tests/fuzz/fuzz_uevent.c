// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's uevent file.
 */
#include "config.h"

#include <string.h>

#include "scan/uevent.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	struct nfd_pci_uevent uevent;

	nfd_uevent_parse_pci(text, &uevent);
	FUZZ_CHECK(!uevent.has_class || uevent.class_code <= 0xffffff);
	FUZZ_CHECK(memchr(uevent.driver, '\0', sizeof(uevent.driver)));
	FUZZ_CHECK(!strchr(uevent.driver, '\n'));
	FUZZ_CHECK(uevent.has_ids || !strstr(text, "PCI_ID=1:1\n") || strstr(text, "PCI_ID="));
	return 0;
}
