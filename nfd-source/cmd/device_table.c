// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One line a PCI function with its labels below, then the labels that other facts give, each with
 * its source. Texts of devices are shown printable whatever they hold.
 */
#include "config.h"

#include "cmd/device_table.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "scan/pci.h"
#include "scan/pci_library.h"

struct table {
	struct nfd_strbuf *buf;
	bool colour;
};

/* Where the source of a label begins. */
#define COLUMN 48

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"

static void put(const struct table *table, const char *colour, const char *text)
{
	if (table->colour)
		nfd_strbuf_puts(table->buf, colour);
	for (; *text; text++) {
		char c = (unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text;

		nfd_strbuf_add(table->buf, &c, 1);
	}
	if (table->colour)
		nfd_strbuf_puts(table->buf, "\033[0m");
}

static const char *short_key(const char *key)
{
	size_t len = strlen(NFD_F);

	return strncmp(key, NFD_F, len) == 0 ? key + len : key;
}

static void put_function(const struct table *table, const struct nfd_pci_function *function,
			 const struct nfd_pci_description *description)
{
	char address[NFD_PCI_ADDRESS_SIZE], column[128], numa[16] = "-";

	nfd_pci_format_address(function, address);
	if (description->numa_node >= 0)
		snprintf(numa, sizeof(numa), "%d", description->numa_node);
	snprintf(column, sizeof(column), "%-13s %04x  %04x:%04x  ", address,
		 function->class_code >> 8, function->vendor, function->device);
	put(table, BOLD, column);
	snprintf(column, sizeof(column), "%-14s ", function->driver[0] ? function->driver : "none");
	put(table, function->driver[0] ? GREEN : YELLOW, column);
	snprintf(column, sizeof(column), "%-4s %-6.40s ", numa,
		 description->slot[0] ? description->slot : "-");
	put(table, "", column);
	put(table, "", description->class_name);
	put(table, "", ": ");
	put(table, "", description->device);
	if (function->is_virtual)
		put(table, DIM, " (virtual function)");
	if (function->is_unresponsive)
		put(table, YELLOW, " (does not answer)");
	nfd_strbuf_puts(table->buf, "\n");
}

/* The labels that a function gives and that nothing stopped. */
static void put_labels(const struct table *table, const struct nfd_scan *scan,
		       const struct nfd_pci_function *function)
{
	char key[NFD_PCI_KEYS][NFD_PCI_KEY_SIZE];
	size_t count = nfd_pci_function_keys(scan->options, function, key);

	for (size_t i = 0; i < count; i++) {
		bool out = function->white_listed && nfd_set_value(&scan->labels, key[i]);
		bool twice = i == 1 && strcmp(key[0], key[1]) == 0;

		if (!out || twice)
			continue;
		put(table, DIM, i == 0 ? "              gives " : ", ");
		put(table, "", short_key(key[i]));
	}
	if (!function->white_listed)
		put(table, DIM,
		    "              no pci label: class not in sources.pci.deviceClassWhitelist");
	nfd_strbuf_puts(table->buf, "\n");
}

static void put_functions(const struct table *table, struct nfd_scan *scan)
{
	const struct nfd_pci_bus *bus = nfd_pci_bus_get(scan);
	struct nfd_pci_library *library = NULL;
	struct nfd_pci_description description;
	struct nfd_error err = { 0 };
	char line[160];

	if (!bus || bus->count == 0) {
		put(table, BOLD, "No PCI function of a class that gets labels.");
		nfd_strbuf_puts(table->buf, "\n");
	} else {
		put(table, DIM, "PCI ADDRESS   CLASS VENDOR:DEV DRIVER         NUMA SLOT   DEVICE");
		nfd_strbuf_puts(table->buf, "\n");
	}
	if (bus && bus->count && nfd_pci_library_open(scan->root, &library, &err) < 0)
		nfd_log(NFD_LOG_WARNING, "no device names", "error", nfd_error_text(&err), NULL);
	for (size_t i = 0; bus && i < bus->count; i++) {
		nfd_pci_library_describe(library, &bus->function[i], &description);
		put_function(table, &bus->function[i], &description);
		put_labels(table, scan, &bus->function[i]);
	}
	nfd_pci_library_close(library);
	if (bus && bus->seen > bus->count) {
		snprintf(line, sizeof(line), "and %zu PCI functions of classes that get no label",
			 bus->seen - bus->count);
		put(table, DIM, line);
		nfd_strbuf_puts(table->buf, "\n");
	}
}

/* Labels but those of the functions above, each with where it comes from. */
static void put_other_labels(const struct table *table, const struct nfd_scan *scan)
{
	char line[NFD_LABEL_KEY_SIZE + NFD_LABEL_VALUE_SIZE];

	nfd_strbuf_puts(table->buf, "\n");
	put(table, DIM, "OTHER LABELS (those without a domain are below " NFD_F ")");
	nfd_strbuf_puts(table->buf, "\n");
	for (size_t i = 0; i < scan->labels.count; i++) {
		const struct nfd_label *label = &scan->labels.label[i];
		int len;

		if (label->stopped_by ||
		    strncmp(label->key, NFD_F "pci-", strlen(NFD_F "pci-")) == 0)
			continue;
		len = snprintf(line, sizeof(line), "%s=%s", short_key(label->key), label->value);
		put(table, BOLD, line);
		nfd_strbuf_printf(table->buf, "%*s", len < COLUMN - 2 ? COLUMN - len : 2, "");
		put(table, DIM, label->source ? label->source : "");
		nfd_strbuf_puts(table->buf, "\n");
	}
}

void nfd_device_table_render(struct nfd_scan *scan, bool colour, struct nfd_strbuf *buf)
{
	struct table table = { .buf = buf, .colour = colour };

	put_functions(&table, scan);
	put_other_labels(&table, scan);
}
