// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PCI configuration space: the search for a vGPU's capability ends, stays inside, and gives texts that end.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "scan/nvidia_vgpu.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of its own, so that a read behind it is found. */
	cleanup_free uint8_t *config = calloc(1, NFD_PCI_CONFIG_SIZE);
	struct nfd_vgpu vgpu;

	FUZZ_CHECK(config);
	memcpy(config, data, size < NFD_PCI_CONFIG_SIZE ? size : NFD_PCI_CONFIG_SIZE);
	nfd_vgpu_parse(config, &vgpu);
	FUZZ_CHECK(memchr(vgpu.version, '\0', sizeof(vgpu.version)));
	FUZZ_CHECK(memchr(vgpu.branch, '\0', sizeof(vgpu.branch)));
	FUZZ_CHECK(vgpu.is_vgpu || (!vgpu.version[0] && !vgpu.branch[0]));
	return 0;
}
