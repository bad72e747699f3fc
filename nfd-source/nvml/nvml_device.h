/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the library says of one GPU, as an entry of the report's "devices" (docs/doctor.md).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "nvml/nvml_abi.h"

/* One GPU while it is asked. */
struct nfd_nvml_device {
	const struct nvml_calls *calls; /* borrowed */
	nvml_device_t handle;
	cJSON *entry;          /* object that receives the facts; borrowed */
	uint64_t memory_bytes; /* 0: not known (yet) */
};

/**
 * nfd_nvml_device_add() - ask everything about a GPU.
 * @device: handle from nvmlDeviceGetHandleByIndex_v2. Its entry receives name, uuid, busId,
 *          memoryBytes, computeMajor and computeMinor, migMode and migPending, virtualization, fabric
 *          and mig, each as far as the library can tell, and failures.
 */
void nfd_nvml_device_add(struct nfd_nvml_device *device);

/**
 * nfd_nvml_device_check() - whether a call about a GPU has succeeded; one that failed is noted in the
 * entry's "failures" ({"call","code","text"}), once for each code.
 * @call: NVML's name of the function.
 * @code: what it returned. That the GPU or the library does not have such a thing (3, 13) is no
 *        failure.
 * Return: whether what the call was to fill can be used.
 */
bool nfd_nvml_device_check(const struct nfd_nvml_device *device, const char *call, int code);

/**
 * nfd_nvml_add_code() - a code with its words under a name of an object: {"code","text"}.
 * @calls: nvmlErrorString() gives the words, "" without it.
 */
void nfd_nvml_add_code(cJSON *object, const char *name, const struct nvml_calls *calls, int code);
