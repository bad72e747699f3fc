// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parser of the uevent file (drivers/pci/pci-driver.c of the kernel, pci_uevent(), writes it).
 */
#include "config.h"

#include "scan/uevent.h"

#include <string.h>

/* Hexadecimal digits up to @end, at most @digits of them. Returns the position behind, or NULL. */
static const char *take_hex(const char *text, unsigned int digits, uint32_t *ret)
{
	uint32_t value = 0;
	unsigned int n;

	for (n = 0;; n++) {
		char c = text[n];
		unsigned int digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned int)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (unsigned int)((c | 0x20) - 'a' + 10);
		else
			break;
		if (n == digits)
			return NULL;
		value = value << 4 | digit;
	}
	if (n == 0)
		return NULL;
	*ret = value;
	return text + n;
}

static bool at_end(const char *text)
{
	return *text == '\n' || *text == '\0';
}

/* "10DE:27B8" */
static bool take_pair(const char *text, uint16_t *ret_first, uint16_t *ret_second)
{
	uint32_t first, second;

	text = take_hex(text, 4, &first);
	if (!text || *text != ':')
		return false;
	text = take_hex(text + 1, 4, &second);
	if (!text || !at_end(text))
		return false;
	*ret_first = (uint16_t)first;
	*ret_second = (uint16_t)second;
	return true;
}

static void take_driver(const char *text, struct nfd_pci_uevent *ret)
{
	size_t len = strcspn(text, "\n");

	if (len >= sizeof(ret->driver))
		len = sizeof(ret->driver) - 1;
	memcpy(ret->driver, text, len);
	ret->driver[len] = '\0';
}

static bool take_key(const char **line, const char *key, size_t len)
{
	if (strncmp(*line, key, len) != 0)
		return false;
	*line += len;
	return true;
}

#define TAKE_KEY(line, key) take_key(line, key, sizeof(key) - 1)

static void parse_line(const char *line, struct nfd_pci_uevent *ret)
{
	if (TAKE_KEY(&line, "PCI_CLASS=")) {
		line = take_hex(line, 6, &ret->class_code);
		ret->has_class = line && at_end(line);
	} else if (TAKE_KEY(&line, "PCI_ID=")) {
		ret->has_ids = take_pair(line, &ret->vendor, &ret->device);
	} else if (TAKE_KEY(&line, "PCI_SUBSYS_ID=")) {
		take_pair(line, &ret->subsystem_vendor, &ret->subsystem_device);
	} else if (TAKE_KEY(&line, "DRIVER=")) {
		take_driver(line, ret);
	}
}

void nfd_uevent_parse_pci(const char *text, struct nfd_pci_uevent *ret)
{
	*ret = (struct nfd_pci_uevent){ 0 };
	while (text) {
		parse_line(text, ret);
		text = strchr(text, '\n');
		if (text)
			text++;
	}
}
