// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The driver's own words for GPUs that it holds, else pci.ids for those that wait for a guest. Virtual
 * functions, and cards that no longer answer, are not counted.
 */
#include "config.h"

#include "scan/nvidia_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scan/nvidia.h"
#include "scan/nvidia_resource.h"
#include "scan/pci_library.h"

/* GPUs in the form of the report, whose rules for one model of several hold here too. */
struct found {
	struct nfd_nvidia_gpu *gpu; /* owned */
	size_t count;
	bool has_information; /* of any, also of those that are not counted */
	bool is_held;         /* the driver holds one of which it says nothing */
	bool is_open;         /* a GPU's model is not known */
};

static bool is_countable(const struct nfd_pci_function *function)
{
	return nfd_nvidia_is_gpu(function) && !function->is_virtual && !function->is_unresponsive;
}

static void add(struct found *found, const struct nfd_pci_function *function, const char *name)
{
	struct nfd_nvidia_gpu *gpu = &found->gpu[found->count++];

	*gpu = (struct nfd_nvidia_gpu){ .address = *function, .mig_mode = -1 };
	snprintf(gpu->name, sizeof(gpu->name), "%s", name);
}

static void take_information(struct nfd_gfd *gfd, const struct nfd_pci_function *function,
			     struct found *found)
{
	struct nfd_nvidia_information information;
	char address[NFD_PCI_ADDRESS_SIZE], path[96];
	int r;

	nfd_pci_format_address(function, address);
	r = nfd_nvidia_information_read(gfd->scan->root, address, &information);
	if (r < 0 && nfd_root_is_absent(r)) {
		found->is_held |= strcmp(function->driver, "nvidia") == 0;
		return;
	}
	found->has_information = true;
	if (r < 0) {
		snprintf(path, sizeof(path), NFD_NVIDIA_GPUS "/%s/information", address);
		nfd_scan_failed(gfd->scan, NFD_GFD "gpu.product", path, r);
		nfd_scan_failed(gfd->scan, NFD_GFD "gpu.count", path, r);
	}
	if (r < 0 || information.is_excluded || nfd_nvidia_is_display(information.model)) {
		found->is_open |= r < 0;
		return;
	}
	/* The driver's word while it could not ask the card. */
	found->is_open |= !information.model[0] || strcmp(information.model, "Unknown") == 0;
	add(found, function, information.model);
}

/* Named by device id, so that pci.ids is opened for one of each model at most. */
static void take_vfio(const struct nfd_pci_function *function, struct found *found)
{
	char id[8];

	if (strcmp(function->driver, "vfio-pci") != 0)
		return;
	snprintf(id, sizeof(id), "%04x", function->device);
	add(found, function, id);
}

static int find(struct nfd_gfd *gfd, const struct nfd_pci_bus *bus, struct found *ret)
{
	*ret = (struct found){ .gpu = calloc(bus->count + 1, sizeof(*ret->gpu)) };
	if (!ret->gpu)
		return -ENOMEM;
	for (size_t i = 0; i < bus->count; i++)
		if (is_countable(&bus->function[i]))
			take_information(gfd, &bus->function[i], ret);
	ret->is_open |= ret->has_information && ret->is_held;
	if (ret->has_information || ret->is_held)
		return 0;
	for (size_t i = 0; i < bus->count; i++)
		if (is_countable(&bus->function[i]))
			take_vfio(&bus->function[i], ret);
	return 0;
}

/* Without pci.ids there is a count and no product. */
static void name_by_pci_ids(const struct nfd_gfd *gfd, const struct nfd_nvidia_gpu *gpu, char *ret,
			    size_t size)
{
	struct nfd_pci_library *library = NULL;

	ret[0] = '\0';
	if (nfd_pci_library_open(gfd->scan->root, &library, NULL) < 0)
		return;
	nfd_pci_library_model(library, &gpu->address, ret, size);
	nfd_pci_library_close(library);
}

static void put(struct nfd_gfd *gfd, const struct found *found)
{
	struct nfd_gfd_model model = nfd_gfd_pick_model(found->gpu, found->count);
	char name[sizeof(model.gpu->name)];
	const struct nfd_gfd_offer offer = {
		.resource = "gpu",
		.model = name,
		.count = model.count,
		.path = found->has_information ? NFD_NVIDIA_GPUS : NFD_PCI_DEVICES,
	};

	if (found->has_information)
		memcpy(name, model.gpu->name, sizeof(name));
	else
		name_by_pci_ids(gfd, model.gpu, name, sizeof(name));
	nfd_gfd_put_model(gfd, &offer);
}

static const char *mode_so_far(const char *mode, const struct nfd_pci_function *function)
{
	const char *own = nfd_gfd_mode(function);

	return !mode || strcmp(mode, own) == 0 ? own : "unknown";
}

/* Of the GPUs that are counted; where none is, of those on the bus. */
static void put_mode(struct nfd_gfd *gfd, const struct nfd_pci_bus *bus, const struct found *found)
{
	bool is_counted = found->has_information && !found->is_open && found->count > 0;
	const char *mode = NULL;

	for (size_t i = 0; is_counted && i < found->count; i++)
		mode = mode_so_far(mode, &found->gpu[i].address);
	for (size_t i = 0; !is_counted && i < bus->count; i++)
		if (is_countable(&bus->function[i]))
			mode = mode_so_far(mode, &bus->function[i]);
	if (mode)
		nfd_gfd_put(gfd, NFD_GFD_MODE, mode, NFD_PCI_DEVICES, "gpu.mode");
}

static void judge(struct nfd_gfd *gfd, const struct found *found)
{
	if (found->count == 0)
		return;
	if (gfd->strategy == NFD_MIG_SINGLE || gfd->strategy == NFD_MIG_MIXED)
		nfd_gfd_lose(gfd, NFD_GFD_MODEL,
			     "with a MIG strategy only NVML knows what the GPUs are", true);
	else if (found->is_open)
		nfd_gfd_lose(gfd, NFD_GFD_MODEL,
			     "the driver does not state the model of a GPU in its information file",
			     true);
}

void nfd_gfd_put_files(struct nfd_gfd *gfd)
{
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(gfd->scan);
	struct found found;

	if (!bus)
		return;
	if (find(gfd, bus, &found) < 0) {
		gfd->scan->error = -ENOMEM;
		return;
	}
	put_mode(gfd, bus, &found);
	judge(gfd, &found);
	if (found.count > 0 && !found.is_open && !(gfd->lost & NFD_GFD_MODEL))
		put(gfd, &found);
	free(found.gpu);
}
