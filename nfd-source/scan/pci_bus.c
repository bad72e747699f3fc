// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks sys/bus/pci/devices: one uevent read a function, a few more for those that matter.
 */
#include "config.h"

#include "scan/pci_bus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/parse.h"
#include "scan/gpu.h"
#include "scan/pci.h"
#include "scan/scan.h"
#include "scan/uevent.h"

#define PATH_SIZE 320

/* Hexadecimal field of @min to @max digits that ends at @end. Returns the position behind @end. */
static const char *take_field(const char *text, size_t min, size_t max, char end, uint32_t *ret)
{
	size_t len = strspn(text, "0123456789abcdefABCDEF");

	if (len < min || len > max || text[len] != end)
		return NULL;
	*ret = (uint32_t)strtoul(text, NULL, 16);
	return text + len + 1;
}

int nfd_pci_parse_address(const char *text, struct nfd_pci_function *ret)
{
	uint32_t domain, bus, device, function;

	if (!(text = take_field(text, 4, 8, ':', &domain)) ||
	    !(text = take_field(text, 2, 2, ':', &bus)) ||
	    !(text = take_field(text, 2, 2, '.', &device)) ||
	    !take_field(text, 1, 1, '\0', &function) || device > 0x1f || function > 7)
		return -EINVAL;
	ret->domain = domain;
	ret->bus = (uint8_t)bus;
	ret->device_number = (uint8_t)device;
	ret->function_number = (uint8_t)function;
	return 0;
}

void nfd_pci_format_address(const struct nfd_pci_function *function, char ret[NFD_PCI_ADDRESS_SIZE])
{
	snprintf(ret, NFD_PCI_ADDRESS_SIZE, "%04x:%02x:%02x.%x", function->domain, function->bus,
		 function->device_number, function->function_number);
}

/* One attribute below the function's folder as a hexadecimal number. */
static int read_hex(const struct nfd_root *root, const char *name, const char *attribute,
		    uint32_t max, uint32_t *ret)
{
	char path[PATH_SIZE], text[32];
	uint64_t value;
	ssize_t len;

	snprintf(path, sizeof(path), NFD_PCI_DEVICES "/%s/%s", name, attribute);
	len = nfd_root_read_line(root, path, text, sizeof(text));
	if (len < 0)
		return (int)len;
	if (nfd_parse_hex(text, max, &value) < 0)
		return -EBADMSG;
	*ret = (uint32_t)value;
	return 0;
}

/* Where the uevent file lacks the ids (other kernels, umockdev) the attributes have them. */
static int read_attributes(const struct nfd_root *root, const char *name,
			   struct nfd_pci_uevent *ret)
{
	uint32_t class_code, vendor, device, sub_vendor = 0, sub_device = 0;
	char path[PATH_SIZE];
	int r;

	if ((r = read_hex(root, name, "class", 0xffffff, &class_code)) < 0 ||
	    (r = read_hex(root, name, "vendor", 0xffff, &vendor)) < 0 ||
	    (r = read_hex(root, name, "device", 0xffff, &device)) < 0)
		return r;
	if (read_hex(root, name, "subsystem_vendor", 0xffff, &sub_vendor) < 0 ||
	    read_hex(root, name, "subsystem_device", 0xffff, &sub_device) < 0)
		sub_vendor = sub_device = 0;
	ret->class_code = class_code;
	ret->vendor = (uint16_t)vendor;
	ret->device = (uint16_t)device;
	ret->subsystem_vendor = (uint16_t)sub_vendor;
	ret->subsystem_device = (uint16_t)sub_device;
	snprintf(path, sizeof(path), NFD_PCI_DEVICES "/%s/driver", name);
	if (nfd_root_read_link(root, path, ret->driver, sizeof(ret->driver)) < 0)
		ret->driver[0] = '\0';
	return 0;
}

static int read_identity(const struct nfd_root *root, const char *name, struct nfd_pci_uevent *ret)
{
	char path[PATH_SIZE], text[4096];
	ssize_t len;

	snprintf(path, sizeof(path), NFD_PCI_DEVICES "/%s/uevent", name);
	len = nfd_root_read(root, path, text, sizeof(text));
	if (len >= 0) {
		nfd_uevent_parse_pci(text, ret);
		if (ret->has_class && ret->has_ids)
			return 0;
	} else if (len != -ENOENT) {
		return (int)len;
	}
	return read_attributes(root, name, ret);
}

static bool is_link(const struct nfd_root *root, const char *name, const char *attribute)
{
	char path[PATH_SIZE], target[NFD_PCI_ADDRESS_SIZE];

	snprintf(path, sizeof(path), NFD_PCI_DEVICES "/%s/%s", name, attribute);
	return nfd_root_read_link(root, path, target, sizeof(target)) > 0;
}

static bool is_readable(const struct nfd_root *root, const char *name, const char *attribute)
{
	char path[PATH_SIZE], text[32];

	snprintf(path, sizeof(path), NFD_PCI_DEVICES "/%s/%s", name, attribute);
	return nfd_root_read_line(root, path, text, sizeof(text)) >= 0;
}

static bool has_failed(const struct nfd_root *root, const char *name,
		       const struct nfd_pci_function *function)
{
	char path[PATH_SIZE], state[16];

	if (function->vendor == 0xffff || function->class_code == 0xffffff)
		return true;
	snprintf(path, sizeof(path), NFD_PCI_DEVICES "/%s/power_state", name);
	return nfd_root_read_line(root, path, state, sizeof(state)) >= 0 &&
	       strcmp(state, "error") == 0;
}

bool nfd_pci_matches(const struct nfd_pci_match *match, size_t count,
		     const struct nfd_pci_function *function)
{
	for (size_t i = 0; i < count; i++)
		if (match[i].vendor == function->vendor &&
		    (!match[i].device || match[i].device == function->device) &&
		    (!match[i].class_code || match[i].class_code == function->class_code >> 8))
			return true;
	return false;
}

static bool is_wanted(const struct nfd_pci_function *function)
{
	const struct nfd_scanner *const *scanners;
	size_t count;

	scanners = nfd_scanners(&count);
	for (size_t i = 0; i < count; i++)
		if (nfd_pci_matches(scanners[i]->functions, scanners[i]->function_count, function))
			return true;
	return false;
}

bool nfd_pci_matters(const struct nfd_pci_function *function)
{
	return function->white_listed || function->is_gpu || function->is_wanted;
}

/* Reads one function. Returns 1 when it matters, 0 when not, negative errno when unreadable. */
static int read_function(struct nfd_scan *scan, const char *name, struct nfd_pci_function *function)
{
	struct nfd_pci_uevent uevent = { 0 };
	int r;

	r = read_identity(scan->root, name, &uevent);
	if (r < 0)
		return r;
	function->class_code = uevent.class_code;
	function->vendor = uevent.vendor;
	function->device = uevent.device;
	function->subsystem_vendor = uevent.subsystem_vendor;
	function->subsystem_device = uevent.subsystem_device;
	memcpy(function->driver, uevent.driver, sizeof(function->driver));
	function->white_listed = nfd_pci_is_white_listed(scan->options, function);
	function->is_gpu = nfd_gpu_is_accelerator(function);
	function->is_wanted = is_wanted(function);
	if (function->white_listed)
		function->has_sriov = is_readable(scan->root, name, "sriov_totalvfs");
	if (function->is_gpu || function->is_wanted) {
		function->is_virtual = is_link(scan->root, name, "physfn");
		function->is_unresponsive = has_failed(scan->root, name, function);
	}
	return nfd_pci_matters(function) || scan->all_devices ||
	       (scan->stands_in && scan->features);
}

/* A function that cannot be read: gone while we looked, or a fault that leaves facts unknown. */
static void note_unreadable(struct nfd_scan *scan, const char *name, int code)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), NFD_PCI_DEVICES "/%s", name);
	if (nfd_root_is_absent(code)) {
		nfd_log(NFD_LOG_DEBUG, "skipped a PCI function that vanished", "path", path,
			"error", nfd_errno_text(code), NULL);
		scan->incomplete = true;
		return;
	}
	nfd_scan_failed(scan, NFD_F "pci-", path, code);
	nfd_scan_failed(scan, NFD_F "gpu-", path, code);
}

static int compare_addresses(const void *a, const void *b)
{
	const struct nfd_pci_function *x = a, *y = b;

	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	if (x->bus != y->bus)
		return x->bus < y->bus ? -1 : 1;
	if (x->device_number != y->device_number)
		return x->device_number < y->device_number ? -1 : 1;
	return (int)x->function_number - (int)y->function_number;
}

static int append(struct nfd_pci_bus *bus, const struct nfd_pci_function *function)
{
	if ((bus->count & (bus->count - 1)) == 0) {
		size_t size = bus->count ? bus->count * 2 : 1;
		struct nfd_pci_function *bigger = realloc(bus->function, size * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		bus->function = bigger;
	}
	bus->function[bus->count++] = *function;
	return 0;
}

static void read_functions(struct nfd_scan *scan, const struct nfd_names *names)
{
	struct nfd_pci_bus *bus = scan->pci;

	for (size_t i = 0; i < names->count && scan->error == 0; i++) {
		struct nfd_pci_function function = { 0 };
		int r;

		if (nfd_pci_parse_address(names->name[i], &function) < 0) {
			nfd_log(NFD_LOG_DEBUG, "skipped an entry that is no PCI address", "name",
				names->name[i], NULL);
			continue;
		}
		bus->seen++;
		r = read_function(scan, names->name[i], &function);
		if (r < 0)
			note_unreadable(scan, names->name[i], r);
		else if (r > 0)
			scan->error = append(bus, &function);
	}
	if (bus->count)
		qsort(bus->function, bus->count, sizeof(*bus->function), compare_addresses);
}

const struct nfd_pci_bus *nfd_pci_bus_get(struct nfd_scan *scan)
{
	cleanup_names struct nfd_names names = { 0 };
	int r;

	if (scan->pci)
		return scan->pci;
	scan->pci = calloc(1, sizeof(*scan->pci));
	if (!scan->pci) {
		scan->error = -ENOMEM;
		return NULL;
	}
	r = nfd_root_list(scan->root, NFD_PCI_DEVICES, &names);
	if (r == -ENOMEM)
		scan->error = r;
	if (r < 0) {
		scan->pci->is_unknown = true;
		nfd_scan_failed(scan, NFD_F "pci-", NFD_PCI_DEVICES, r);
		nfd_scan_failed(scan, NFD_F "gpu-", NFD_PCI_DEVICES, r);
		return scan->pci;
	}
	read_functions(scan, &names);
	if (scan->pci->seen == 0) {
		/* True in some small VMs; implausible where there were devices a moment ago. */
		nfd_scan_doubt(scan, NFD_F "pci-", "\"" NFD_PCI_DEVICES "\" is empty");
		nfd_scan_doubt(scan, NFD_F "gpu-", "\"" NFD_PCI_DEVICES "\" is empty");
	}
	return scan->pci;
}

unsigned int nfd_pci_count(struct nfd_scan *scan, const struct nfd_scanner *scanner,
			   bool virtual_too)
{
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(scan);
	unsigned int count = 0;

	for (size_t i = 0; bus && i < bus->count; i++)
		count += (virtual_too || !bus->function[i].is_virtual) &&
			 nfd_pci_matches(scanner->functions, scanner->function_count,
					 &bus->function[i]);
	return count;
}

ssize_t nfd_pci_read_line(const struct nfd_root *root, const struct nfd_pci_function *function,
			  const char *attribute, char *buf, size_t size)
{
	char address[NFD_PCI_ADDRESS_SIZE], path[PATH_SIZE];

	nfd_pci_format_address(function, address);
	snprintf(path, sizeof(path), NFD_PCI_DEVICES "/%s/%s", address, attribute);
	return nfd_root_read_line(root, path, buf, size);
}

void nfd_pci_bus_free(struct nfd_pci_bus *bus)
{
	if (!bus)
		return;
	free(bus->function);
	free(bus);
}
