// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One label a vendor, one a combination of the configured fields. Several functions share a label;
 * the one with the lowest address is its source.
 */
#include "config.h"

#include "scan/pci.h"

#include <stdio.h>
#include <string.h>

#define SETTING_CLASSES "sources.pci.deviceClassWhitelist"
#define STEM_SIZE (NFD_PCI_FIELDS * 5)

const char *const nfd_pci_field_names[NFD_PCI_FIELDS + 1] = {
	"class", "vendor", "device", "subsystem_vendor", "subsystem_device", NULL,
};

/* Four lower-case hex digits: the form of all our ids. snprintf would be a third of a big scan. */
static char *put_hex4(char *to, unsigned int value)
{
	static const char digits[] = "0123456789abcdef";

	for (int shift = 12; shift >= 0; shift -= 4)
		*to++ = digits[value >> shift & 0xf];
	*to = '\0';
	return to;
}

bool nfd_pci_is_white_listed(const struct nfd_scan_options *options,
			     const struct nfd_pci_function *function)
{
	const struct nfd_texts *list = &options->pci.class_white_list;
	char text[5];

	put_hex4(text, function->class_code >> 8);
	for (size_t i = 0; i < list->count; i++)
		if (strncmp(text, list->text[i], strlen(list->text[i])) == 0)
			return true;
	return false;
}

bool nfd_pci_is_vendor_key(const char *key)
{
	static const char stem[] = NFD_F "pci-";
	size_t len = sizeof(stem) - 1;

	return strncmp(key, stem, len) == 0 && strspn(key + len, "0123456789abcdef") == 4 &&
	       strcmp(key + len + 4, ".present") == 0;
}

static unsigned int field_of(const struct nfd_pci_function *function, size_t field)
{
	const unsigned int values[NFD_PCI_FIELDS] = {
		function->class_code >> 8,  function->vendor,           function->device,
		function->subsystem_vendor, function->subsystem_device,
	};

	return values[field];
}

void nfd_pci_format_field(const struct nfd_pci_function *function, size_t field, char ret[8])
{
	put_hex4(ret, field_of(function, field));
}

/* "0302_10de" for the fields class and vendor. */
static void make_stem(const struct nfd_pci_function *function, unsigned int fields,
		      char ret[STEM_SIZE])
{
	char *to = ret;

	for (size_t i = 0; i < NFD_PCI_FIELDS; i++) {
		if (!(fields & 1U << i))
			continue;
		if (to != ret)
			*to++ = '_';
		to = put_hex4(to, field_of(function, i));
	}
	*to = '\0';
}

static void describe(const struct nfd_pci_function *function, char path[96], char detail[96])
{
	char address[NFD_PCI_ADDRESS_SIZE];

	nfd_pci_format_address(function, address);
	snprintf(path, 96, NFD_PCI_DEVICES "/%s/uevent", address);
	snprintf(detail, 96, "PCI_CLASS=%X PCI_ID=%04X:%04X", function->class_code,
		 function->vendor, function->device);
}

size_t nfd_pci_function_keys(const struct nfd_scan_options *options,
			     const struct nfd_pci_function *function,
			     char ret[NFD_PCI_KEYS][NFD_PCI_KEY_SIZE])
{
	char stem[STEM_SIZE];

	make_stem(function, options->pci.label_fields, stem);
	snprintf(ret[0], NFD_PCI_KEY_SIZE, NFD_F "pci-%04x.present", function->vendor);
	snprintf(ret[1], NFD_PCI_KEY_SIZE, NFD_F "pci-%s.present", stem);
	snprintf(ret[2], NFD_PCI_KEY_SIZE, NFD_F "pci-%s.sriov.capable", stem);
	return function->has_sriov ? 3 : 2;
}

static void add_labels(struct nfd_scan *scan, const struct nfd_pci_function *function)
{
	char path[96], detail[96], key[NFD_PCI_KEYS][NFD_PCI_KEY_SIZE];
	struct nfd_finding finding = { .value = "true", .path = path, .detail = detail };
	size_t count = nfd_pci_function_keys(scan->options, function, key);

	describe(function, path, detail);
	for (size_t i = 0; i < count; i++) {
		finding.rank = i == 0 ? NFD_RANK_ESSENTIAL : NFD_RANK_NORMAL;
		if (function->white_listed)
			nfd_scan_label(scan, &finding, "%s", key[i]);
		else
			nfd_scan_stopped(scan, &finding, SETTING_CLASSES, "%s", key[i]);
	}
}

static void add_feature(struct nfd_scan *scan, const struct nfd_pci_function *function)
{
	char address[NFD_PCI_ADDRESS_SIZE];
	char id[NFD_PCI_FIELDS][STEM_SIZE];
	struct nfd_attribute attribute[NFD_PCI_FIELDS + 3];

	nfd_pci_format_address(function, address);
	for (unsigned int i = 0; i < NFD_PCI_FIELDS; i++) {
		make_stem(function, 1U << i, id[i]);
		attribute[i] = (struct nfd_attribute){ nfd_pci_field_names[i], id[i] };
	}
	attribute[NFD_PCI_FIELDS] = (struct nfd_attribute){ "address", address };
	attribute[NFD_PCI_FIELDS + 1] =
		(struct nfd_attribute){ "driver", function->driver[0] ? function->driver : NULL };
	attribute[NFD_PCI_FIELDS + 2] =
		(struct nfd_attribute){ "virtual", function->is_virtual ? "true" : NULL };
	nfd_scan_instance(scan, "nfd-source.pci", attribute, NFD_ARRAY_SIZE(attribute));
}

static void run(struct nfd_scan *scan)
{
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(scan);

	for (size_t i = 0; bus && i < bus->count; i++) {
		if (nfd_pci_matters(&bus->function[i]) || scan->all_devices)
			add_labels(scan, &bus->function[i]);
		if (scan->features && bus->function[i].white_listed)
			add_feature(scan, &bus->function[i]);
	}
}

static const char *const subsystems[] = { "pci", NULL };
static const char *const prefixes[] = { NFD_F "pci-", NULL };
static const char *const features[] = { "nfd-source.pci", NULL };

const struct nfd_scanner nfd_pci_scanner = {
	.name = "pci",
	.summary = "PCI functions by vendor and class",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.features = features,
	.run = run,
	.source = NFD_SOURCE_PCI,
};
