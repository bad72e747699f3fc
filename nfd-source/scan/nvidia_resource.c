// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Product, count, replicas and family, whatever they were learned from.
 */
#include "config.h"

#include "scan/nvidia_resource.h"

#include <stdio.h>
#include <string.h>

/* First row that fits; a compute capability that has none is of no family that has a name. */
static const struct {
	int major, minor_max;
	const char *family;
} families[] = {
	{ 1, 999, "tesla" },   { 2, 999, "fermi" },      { 3, 999, "kepler" },
	{ 5, 999, "maxwell" }, { 6, 999, "pascal" },     { 7, 4, "volta" },
	{ 7, 999, "turing" },  { 8, 8, "ampere" },       { 8, 999, "ada-lovelace" },
	{ 9, 999, "hopper" },  { 10, 999, "blackwell" }, { 12, 999, "blackwell" },
};

/* One model's GPUs. */
static struct nfd_gfd_model gather(const struct nfd_nvidia_gpu *gpu, size_t count, const char *name)
{
	struct nfd_gfd_model model = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (strcmp(gpu[i].name, name) != 0)
			continue;
		if (!model.gpu || (model.gpu->mig_mode == 1 && gpu[i].mig_mode != 1))
			model.gpu = &gpu[i];
		model.count++;
	}
	return model;
}

static bool is_better(const struct nfd_gfd_model *model, const struct nfd_gfd_model *best)
{
	bool is_whole = model->gpu->mig_mode != 1;

	if (!best->gpu || is_whole != (best->gpu->mig_mode != 1))
		return !best->gpu || is_whole;
	return model->count > best->count;
}

struct nfd_gfd_model nfd_gfd_pick_model(const struct nfd_nvidia_gpu *gpu, size_t count)
{
	struct nfd_gfd_model best = { 0 };

	/* By address, and only a better one wins: the lowest address does where they are equal. */
	for (size_t i = 0; i < count; i++) {
		struct nfd_gfd_model model = gather(gpu, count, gpu[i].name);

		if (is_better(&model, &best))
			best = model;
	}
	return best;
}

static const struct nfd_gfd_resource *sharing_of(const struct nfd_gfd *gfd,
						 const struct nfd_gfd_offer *offer)
{
	char name[NFD_LABEL_KEY_SIZE];

	if (offer->is_unshared)
		return NULL;
	snprintf(name, sizeof(name), NFD_GFD "%s", offer->resource);
	return nfd_gfd_config_find(gfd->config, name);
}

void nfd_gfd_put_model(struct nfd_gfd *gfd, const struct nfd_gfd_offer *offer)
{
	char suffix[NFD_LABEL_VALUE_SIZE], product[NFD_LABEL_VALUE_SIZE];
	bool is_marked = sharing_of(gfd, offer) && !gfd->config->is_renamed;

	snprintf(suffix, sizeof(suffix), "%s%s%s", offer->profile ? "-MIG-" : "",
		 offer->profile ? offer->profile : "", is_marked ? "-SHARED" : "");
	if (nfd_label_value_with_suffix(offer->model, suffix, product) > 0)
		nfd_gfd_put(gfd, NFD_GFD_MODEL, product, offer->path, "%s.product",
			    offer->resource);
	nfd_gfd_put_number(gfd, NFD_GFD_MODEL, offer->count, offer->path, "%s.count",
			   offer->resource);
}

void nfd_gfd_put_offer(struct nfd_gfd *gfd, const struct nfd_gfd_offer *offer)
{
	const struct nfd_gfd_resource *shared = sharing_of(gfd, offer);

	nfd_gfd_put_model(gfd, offer);
	nfd_gfd_put_number(gfd, NFD_GFD_SHARING, shared ? shared->replicas : !offer->is_unshared,
			   offer->path, "%s.replicas", offer->resource);
	nfd_gfd_put(gfd, NFD_GFD_SHARING, shared ? gfd->config->sharing : "none", offer->path,
		    "%s.sharing-strategy", offer->resource);
}

static const char *family_of(int major, int minor)
{
	for (size_t i = 0; i < NFD_ARRAY_SIZE(families); i++)
		if (families[i].major == major && minor <= families[i].minor_max)
			return families[i].family;
	return "undefined";
}

void nfd_gfd_put_family(struct nfd_gfd *gfd, int major, int minor, const char *path)
{
	if (major <= 0)
		return;
	nfd_gfd_put(gfd, NFD_GFD_FAMILY, family_of(major, minor), path, "gpu.family");
	nfd_gfd_put_number(gfd, NFD_GFD_FAMILY, (uint64_t)major, path, "gpu.compute.major");
	nfd_gfd_put_number(gfd, NFD_GFD_FAMILY, (uint64_t)minor, path, "gpu.compute.minor");
}
