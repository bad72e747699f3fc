// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PCI addresses: an address that was taken prints as one that reads the same.
 */
#include "config.h"

#include <string.h>

#include "scan/pci_bus.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = fuzz_text(data, size);
	struct nfd_pci_function function = { 0 }, again = { 0 };
	char address[NFD_PCI_ADDRESS_SIZE];

	if (nfd_pci_parse_address(text, &function) < 0)
		return 0;
	FUZZ_CHECK(strlen(text) >= strlen("0000:00:00.0") &&
		   strlen(text) <= strlen("00000000:00:00.0"));
	FUZZ_CHECK(function.device_number <= 0x1f && function.function_number <= 7);
	nfd_pci_format_address(&function, address);
	FUZZ_CHECK(nfd_pci_parse_address(address, &again) == 0);
	FUZZ_CHECK(function.domain == again.domain && function.bus == again.bus);
	FUZZ_CHECK(function.device_number == again.device_number);
	FUZZ_CHECK(function.function_number == again.function_number);
	return 0;
}
