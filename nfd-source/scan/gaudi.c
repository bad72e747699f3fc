// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Intel Gaudi accelerators: the label of the rule of Intel's resource driver, and what the driver
 * says of the cards. Goya and Greco have the same vendor and class and are inference cards of
 * another line. A card is told by its PCI address: folders of other drivers stand beside it.
 */
#include "config.h"

#include "scan/gaudi.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "scan/pci_bus.h"
#include "scan/version_labels.h"

#define STEM NFD_F "intel-gaudi."
#define RULE_KEY "intel.feature.node.kubernetes.io/gaudi"
#define PATH_SIZE 128
#define NUMBER_DIGITS 7
#define SOURCES_MAX 3

static const struct nfd_pci_match functions[] = {
	{ .vendor = 0x1da3, .class_code = 0x1200 },
};

/* Goya, and Greco with its second form. */
static const struct nfd_pci_match others[] = {
	{ .vendor = 0x1da3, .device = 0x0001 },
	{ .vendor = 0x1da3, .device = 0x0020 },
	{ .vendor = 0x1da3, .device = 0x0030 },
};

/* Where a driver shows its cards; the older place is looked at when the newer has none. */
static const struct place {
	const char *folder;
	const char *stem;       /* of a card's name, before its number */
	const char *attributes; /* in the card's folder */
} places[] = {
	{ "sys/class/accel", "accel", "device/" },
	{ "sys/class/habanalabs", "hl", "" },
};

enum fact_name { TYPE, DRIVER, FIRMWARE, STATUS, FACTS };

static const struct fact {
	const char *key; /* stem of its keys; its reads failed: these are unknown */
	const char *source[SOURCES_MAX + 1]; /* attributes, the first that is there counts */
} facts[FACTS] = {
	[TYPE] = { STEM "type", { "device_type", NULL } },
	[DRIVER] = { STEM "driver.version", { "driver_ver", NULL } },
	[FIRMWARE] = { STEM "firmware.version",
		       { "fw_os_ver", "cpucp_kernel_ver", "armcp_kernel_ver", NULL } },
	[STATUS] = { STEM "operational", { "status", NULL } },
};

/* What the cards say of one fact. */
struct answer {
	char text[160];           /* of the first card that says something */
	char path[PATH_SIZE];     /* which gave it */
	unsigned int speakers;    /* cards that say something */
	unsigned int operational; /* cards that say that word */
	bool differs;
	bool failed;
};

static bool is_gaudi(const struct nfd_pci_function *function)
{
	return nfd_pci_matches(functions, NFD_ARRAY_SIZE(functions), function) &&
	       !nfd_pci_matches(others, NFD_ARRAY_SIZE(others), function);
}

/* A card of the host: one that answers, and no part of another. */
static bool is_counted(const struct nfd_pci_function *function)
{
	return is_gaudi(function) && !function->is_virtual && !function->is_unresponsive;
}

static bool is_card_name(const char *name, const char *stem)
{
	size_t len = strlen(stem), digits;

	if (strncmp(name, stem, len) != 0)
		return false;
	digits = strspn(name + len, "0123456789");
	return digits > 0 && digits <= NUMBER_DIGITS && name[len + digits] == '\0';
}

static bool is_gaudi_at(const struct nfd_pci_bus *bus, const char *address)
{
	struct nfd_pci_function where = { 0 };

	if (nfd_pci_parse_address(address, &where) < 0)
		return false;
	for (size_t i = 0; i < bus->count; i++) {
		const struct nfd_pci_function *function = &bus->function[i];

		if (function->domain == where.domain && function->bus == where.bus &&
		    function->device_number == where.device_number &&
		    function->function_number == where.function_number)
			return is_gaudi(function);
	}
	return false;
}

/* By the link to its PCI function, else by what the driver says. */
static bool is_gaudi_card(struct nfd_scan *scan, const struct nfd_pci_bus *bus,
			  const struct place *place, const char *name)
{
	char path[PATH_SIZE], address[64];

	if (!is_card_name(name, place->stem))
		return false;
	snprintf(path, sizeof(path), "%s/%s/device", place->folder, name);
	if (nfd_root_read_link(scan->root, path, address, sizeof(address)) > 0 &&
	    is_gaudi_at(bus, address))
		return true;
	snprintf(path, sizeof(path), "%s/%s/%spci_addr", place->folder, name, place->attributes);
	return nfd_root_read_line(scan->root, path, address, sizeof(address)) > 0 &&
	       is_gaudi_at(bus, address);
}

/* The first source of a fact that a card has. Returns the length; 0 when it says nothing. */
static ssize_t read_fact(struct nfd_scan *scan, const struct fact *fact, const struct place *place,
			 const char *name, char path[PATH_SIZE], char text[160])
{
	ssize_t len = 0;

	for (const char *const *source = fact->source; *source; source++) {
		snprintf(path, PATH_SIZE, "%s/%s/%s%s", place->folder, name, place->attributes,
			 *source);
		len = nfd_root_read_line(scan->root, path, text, 160);
		if (len > 0 || (len < 0 && !nfd_root_is_absent((int)len)))
			return len;
	}
	return 0;
}

static void add_answer(struct nfd_scan *scan, struct answer *answer, const struct fact *fact,
		       const struct place *place, const char *name)
{
	char path[PATH_SIZE], text[sizeof(answer->text)];
	ssize_t len = read_fact(scan, fact, place, name, path, text);

	if (len < 0) {
		nfd_scan_failed(scan, fact->key, path, (int)len);
		answer->failed = true;
	}
	if (len <= 0)
		return;
	if (answer->speakers == 0) {
		memcpy(answer->text, text, (size_t)len + 1);
		memcpy(answer->path, path, sizeof(path));
	}
	answer->differs |= strcmp(answer->text, text) != 0;
	answer->operational += strcasecmp(text, "operational") == 0;
	answer->speakers++;
}

/* Returns how many cards a place has. */
static unsigned int read_place(struct nfd_scan *scan, const struct nfd_pci_bus *bus,
			       const struct place *place, struct answer answer[FACTS])
{
	cleanup_names struct nfd_names names = { 0 };
	int r = nfd_root_list(scan->root, place->folder, &names);
	unsigned int cards = 0;

	if (r == -ENOMEM)
		scan->error = r;
	for (size_t i = 0; r < 0 && i < FACTS; i++) {
		nfd_scan_failed(scan, facts[i].key, place->folder, r);
		answer[i].failed |= !nfd_root_is_absent(r);
	}
	for (size_t i = 0; i < names.count; i++) {
		if (!is_gaudi_card(scan, bus, place, names.name[i]))
			continue;
		cards++;
		for (size_t j = 0; j < FACTS; j++)
			add_answer(scan, &answer[j], &facts[j], place, names.name[i]);
	}
	return cards;
}

/* Where the text names a build such as "hl-gaudi2-1.20.0-fw-58.0.0-sec-9", the version is in it. */
static void add_firmware(struct nfd_scan *scan, struct answer *answer)
{
	static const char mark[] = "-fw-";
	char *version = strstr(answer->text, mark);

	version = version ? version + sizeof(mark) - 1 : answer->text;
	version[strcspn(version, " \t\n")] = '\0';
	nfd_scan_version(scan, facts[FIRMWARE].key, answer->path, version);
}

static void add_type(struct nfd_scan *scan, const struct answer *answer)
{
	char value[NFD_LABEL_VALUE_SIZE];
	const struct nfd_finding finding = { .rank = NFD_RANK_NORMAL,
					     .value = value,
					     .path = answer->path };

	if (nfd_label_value_from_name(answer->text, value) > 0)
		nfd_scan_label(scan, &finding, "%s", facts[TYPE].key);
}

/* A fact is one of the node only when no card says something else. */
static bool is_agreed(const struct answer *answer)
{
	return answer->speakers > 0 && !answer->differs && !answer->failed;
}

static void add_facts(struct nfd_scan *scan, struct answer answer[FACTS])
{
	const struct answer *status = &answer[STATUS];

	if (is_agreed(&answer[TYPE]))
		add_type(scan, &answer[TYPE]);
	if (is_agreed(&answer[DRIVER]))
		nfd_scan_version(scan, facts[DRIVER].key, answer[DRIVER].path, answer[DRIVER].text);
	if (is_agreed(&answer[FIRMWARE]))
		add_firmware(scan, &answer[FIRMWARE]);
	if (status->speakers > 0 && !status->failed)
		nfd_scan_count(scan, NFD_RANK_NORMAL, status->operational, status->path, "%s",
			       facts[STATUS].key);
}

/* As in the rule, a virtual function is enough. */
static void add_rule(struct nfd_scan *scan, const struct nfd_pci_function *first)
{
	char address[NFD_PCI_ADDRESS_SIZE], path[64];
	const struct nfd_finding finding = { .rank = NFD_RANK_ESSENTIAL,
					     .value = "true",
					     .path = path };

	nfd_pci_format_address(first, address);
	snprintf(path, sizeof(path), NFD_PCI_DEVICES "/%s", address);
	nfd_scan_label(scan, &finding, RULE_KEY);
}

static const struct nfd_pci_function *find_first(const struct nfd_pci_bus *bus)
{
	for (size_t i = 0; bus && i < bus->count; i++)
		if (is_gaudi(&bus->function[i]) && !bus->function[i].is_unresponsive)
			return &bus->function[i];
	return NULL;
}

static bool is_here(struct nfd_scan *scan)
{
	return find_first(nfd_pci_bus_get(scan)) != NULL;
}

static void run(struct nfd_scan *scan)
{
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(scan);
	const struct nfd_pci_function *first = find_first(bus);
	struct answer answer[FACTS] = { 0 };
	unsigned int count = 0;

	if (!first)
		return;
	add_rule(scan, first);
	for (size_t i = 0; i < bus->count; i++)
		count += is_counted(&bus->function[i]);
	if (count > 0)
		nfd_scan_count(scan, NFD_RANK_NORMAL, count, NFD_PCI_DEVICES, STEM "count");
	for (size_t i = 0; i < NFD_ARRAY_SIZE(places); i++)
		if (read_place(scan, bus, &places[i], answer) > 0)
			break;
	add_facts(scan, answer);
}

static const char *const subsystems[] = { "pci", "accel", "module", "drivers", NULL };
static const char *const prefixes[] = { RULE_KEY, STEM, NULL };

const struct nfd_scanner nfd_gaudi_scanner = {
	.name = "gaudi",
	.summary = "Intel Gaudi accelerators",
	.subsystems = subsystems,
	.key_prefixes = prefixes,
	.run = run,
	.vendor = NFD_VENDOR_GAUDI,
	.functions = functions,
	.function_count = NFD_ARRAY_SIZE(functions),
	.is_here = is_here,
};
