// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Partitions are gathered by profile over all GPUs; of each profile the first one, by PCI address of its
 * GPU, says what it has.
 */
#include "config.h"

#include "scan/nvidia_mig.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "scan/nvidia_resource.h"

#define PROFILES_MAX 32
#define PROFILE_SIZE 33

/* Label and member of the report. */
static const struct {
	const char *suffix, *member;
	enum nfd_gfd_group group;
} attributes[] = {
	{ "memory", "memoryMb", NFD_GFD_MEMORY },
	{ "multiprocessors", "multiprocessors", NFD_GFD_MIG },
	{ "slices.gi", "gpuInstanceSlices", NFD_GFD_MIG },
	{ "slices.ci", "computeInstanceSlices", NFD_GFD_MIG },
	{ "engines.copy", "copyEngines", NFD_GFD_MIG },
	{ "engines.decoder", "decoders", NFD_GFD_MIG },
	{ "engines.encoder", "encoders", NFD_GFD_MIG },
	{ "engines.jpeg", "jpegEngines", NFD_GFD_MIG },
	{ "engines.ofa", "ofaEngines", NFD_GFD_MIG },
};

struct profile {
	char name[PROFILE_SIZE]; /* "1g.10gb.me" */
	const struct nfd_nvidia_gpu *gpu;
	const cJSON *partition;
	unsigned int count;
};

struct profiles {
	struct profile profile[PROFILES_MAX];
	size_t count;
	bool is_broken; /* a partition could not be understood */
};

/* "1g.10gb+me" as a part of keys: "1g.10gb.me". */
static bool take_name(const char *text, char ret[PROFILE_SIZE])
{
	size_t len = strlen(text);
	char key[sizeof(NFD_GFD "mig-") + PROFILE_SIZE];

	if (len == 0 || len >= PROFILE_SIZE)
		return false;
	for (size_t i = 0; i <= len; i++)
		ret[i] = text[i] == '+' ? '.' : text[i];
	snprintf(key, sizeof(key), NFD_GFD "mig-%s", ret);
	return nfd_label_key_check(key, NULL) == 0;
}

static bool has_attributes(const cJSON *partition)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(attributes); i++) {
		const cJSON *item = nfd_json_get(partition, attributes[i].member);

		if (!cJSON_IsNumber(item) ||
		    !(item->valuedouble >= 0 && item->valuedouble <= UINT32_MAX))
			return false;
	}
	return true;
}

static void add_partition(struct profiles *profiles, const struct nfd_nvidia_gpu *gpu,
			  const cJSON *partition)
{
	struct profile *profile = profiles->profile;
	char name[PROFILE_SIZE];

	if (!take_name(nfd_json_text(partition, "profile"), name) || !has_attributes(partition)) {
		profiles->is_broken = true;
		return;
	}
	while (profile < profiles->profile + profiles->count && strcmp(profile->name, name) != 0)
		profile++;
	if (profile == profiles->profile + profiles->count) {
		if (profiles->count == PROFILES_MAX) {
			profiles->is_broken = true;
			return;
		}
		profiles->count++;
		*profile = (struct profile){ .gpu = gpu, .partition = partition };
		memcpy(profile->name, name, sizeof(name));
	}
	profile->count++;
}

static void gather(const struct nfd_nvidia_report *report, struct profiles *ret)
{
	const cJSON *partition;

	*ret = (struct profiles){ 0 };
	for (size_t i = 0; i < report->count; i++)
		if (report->gpu[i].mig_mode == 1)
			cJSON_ArrayForEach(partition, report->gpu[i].mig)
				add_partition(ret, &report->gpu[i], partition);
}

static void put_profile(struct nfd_gfd *gfd, const struct profile *profile, const char *resource)
{
	const struct nfd_gfd_offer offer = {
		.resource = resource,
		.model = profile->gpu->name,
		.profile = profile->name,
		.count = profile->count,
		.path = NFD_NVML_SOURCE,
	};
	bool is_single = strcmp(resource, "gpu") == 0;

	nfd_gfd_put_offer(gfd, &offer);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(attributes); i++)
		nfd_gfd_put_number(gfd, is_single ? attributes[i].group : NFD_GFD_MIG,
				   (uint64_t)nfd_json_get(profile->partition, attributes[i].member)
					   ->valuedouble,
				   NFD_NVML_SOURCE, "%s.%s", resource, attributes[i].suffix);
}

/* As gpu-feature-discovery says that the strategy single does not fit the GPUs. */
static void put_invalid(struct nfd_gfd *gfd, const struct nfd_nvidia_gpu *gpu, const char *why)
{
	const struct nfd_gfd_offer offer = {
		.resource = "gpu",
		.model = gpu->name,
		.profile = "INVALID",
		.is_unshared = true,
		.path = NFD_NVML_SOURCE,
	};

	nfd_log(NFD_LOG_DEBUG, "the MIG strategy single does not fit the GPUs", "reason", why,
		NULL);
	nfd_gfd_put_offer(gfd, &offer);
	nfd_gfd_put(gfd, NFD_GFD_SHARING, "", NFD_NVML_SOURCE, "gpu.sharing-strategy");
	nfd_gfd_put_number(gfd, NFD_GFD_MEMORY, 0, NFD_NVML_SOURCE, "gpu.memory");
}

/* Why the GPUs are not all partitioned alike; NULL when they are. */
static const char *find_fault(const struct nfd_nvidia_report *report,
			      const struct profiles *profiles)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->gpu[i].mig_mode == 1 && cJSON_GetArraySize(report->gpu[i].mig) == 0)
			return "a GPU is in MIG mode without a partition";
	for (size_t i = 0; i < report->count; i++)
		if (report->gpu[i].mig_mode != 1)
			return "only some GPUs are in MIG mode";
	return profiles->count == 1 ? NULL : "there is more than one profile";
}

static const struct nfd_nvidia_gpu *first_enabled(const struct nfd_nvidia_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->gpu[i].mig_mode == 1)
			return &report->gpu[i];
	return NULL;
}

static void put_single(struct nfd_gfd *gfd, const struct profiles *profiles)
{
	const char *fault = find_fault(&gfd->report, profiles);

	if (fault)
		put_invalid(gfd, first_enabled(&gfd->report), fault);
	else
		put_profile(gfd, &profiles->profile[0], "gpu");
}

static void put_mixed(struct nfd_gfd *gfd, const struct profiles *profiles)
{
	char resource[sizeof("mig-") + PROFILE_SIZE];

	for (size_t i = 0; i < profiles->count; i++) {
		snprintf(resource, sizeof(resource), "mig-%s", profiles->profile[i].name);
		put_profile(gfd, &profiles->profile[i], resource);
	}
}

bool nfd_gfd_put_partitions(struct nfd_gfd *gfd)
{
	bool is_single = gfd->strategy == NFD_MIG_SINGLE;
	struct profiles profiles;

	if (!is_single && gfd->strategy != NFD_MIG_MIXED)
		return false;
	nfd_gfd_put(gfd, NFD_GFD_MIG_STRATEGY, is_single ? "single" : "mixed", NFD_NVML_SOURCE,
		    "mig.strategy");
	if (is_single && !first_enabled(&gfd->report))
		return false;
	gather(&gfd->report, &profiles);
	if (gfd->report.failed & NFD_NVIDIA_MIG)
		nfd_gfd_lose(gfd, is_single ? NFD_GFD_RESOURCES : NFD_GFD_MIG, gfd->report.why,
			     false);
	else if (profiles.is_broken)
		nfd_gfd_lose(gfd, is_single ? NFD_GFD_RESOURCES : NFD_GFD_MIG,
			     "NVML: a partition of a GPU is not as partitions are", false);
	else if (is_single)
		put_single(gfd, &profiles);
	else
		put_mixed(gfd, &profiles);
	return is_single;
}
