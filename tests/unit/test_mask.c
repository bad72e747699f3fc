// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cmd/mask: what must not leave a host; the length stays.
 */
#include "config.h"

#include "cmd/mask.h"

#include <string.h>

#include "tests/unit/unit.h"

#define UUID "4c4c4544-0043-3010-8052-b4c04f564231"
#define ZERO_UUID "00000000-0000-0000-0000-000000000000"
#define MAC "ac:1f:6b:aa:bb:cc"
#define ZERO_MAC "00:00:00:00:00:00"

static const struct {
	const char *name, *path, *text, *masked;
} rows[] = {
	{ "empty", "x", "", "" },
	{ "UUID", "x", UUID, ZERO_UUID },
	{ "UUID in upper case", "x", "4C4C4544-0043-3010-8052-B4C04F564231", ZERO_UUID },
	{ "UUID of a GPU", "x", "GPU UUID: \t GPU-" UUID "\n", "GPU UUID: \t GPU-" ZERO_UUID "\n" },
	{ "UUID cut by a byte", "x", "4c4c4544-0043-3010-8052-b4c04f56423",
	  "4c4c4544-0043-3010-8052-b4c04f56423" },
	{ "UUID with a digit more", "x", UUID "a", UUID "a" },
	{ "UUID with a digit before", "x", "a" UUID, "a" UUID },
	{ "MAC", "x", MAC "\n", ZERO_MAC "\n" },
	{ "two MACs", "x", MAC " " MAC, ZERO_MAC " " ZERO_MAC },
	{ "MAC at the end", "x", "a=" MAC, "a=" ZERO_MAC },
	{ "GUID", "x", "ec:0d:9a:03:00:c0:a9:3a", "00:00:00:00:00:00:00:00" },
	{ "InfiniBand address", "x", "80:00:02:08:fe:80:00:00:00:00:00:00:ec:0d:9a:03:00:c0:a9:3a",
	  "00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00" },
	{ "seven groups", "x", MAC ":dd", ZERO_MAC ":00" },
	{ "six groups and a longer one", "x", MAC ":dde", ZERO_MAC ":dde" },
	{ "five groups are no MAC", "x", "ac:1f:6b:aa:bb", "ac:1f:6b:aa:bb" },
	{ "PCI address is no MAC", "x", "0000:3b:00.0", "0000:3b:00.0" },
	{ "time is no MAC", "x", "10:00:00", "10:00:00" },
	{ "version is no secret", "x", "580.126.09", "580.126.09" },
	{ "ids are no secret", "sys/x/uevent", "PCI_ID=10DE:27B8\n", "PCI_ID=10DE:27B8\n" },
	{ "not UTF-8", "x", "\xff" MAC "\xfe", "\xff" ZERO_MAC "\xfe" },
	{ "serial by name", "sys/bus/usb/devices/1-1/serial", "S/N 01-A\n", "XXX XXXX\n" },
	{ "asset tag", "sys/devices/virtual/dmi/id/board_asset_tag", "Rack 7\n", "XXXX X\n" },
	{ "product serial", "sys/class/dmi/id/product_serial", "CZ123\n", "XXXXX\n" },
	{ "address by name", "sys/class/net/eth0/address", MAC "\n", "XXXXXXXXXXXXXXXXX\n" },
	{ "name without folder", "uuid", "abc", "XXX" },
	{ "machine id", "etc/machine-id", "0123abc\n", "XXXXXXX\n" },
	{ "name inside a name", "sys/x/serial_mode", "1\n", "1\n" },
	{ "name as a folder", "sys/serial/x", "plain\n", "plain\n" },
};

static void masks(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	char *text = unit_text("%s", row->text);

	nfd_mask(row->path, text, strlen(text));
	assert_string_equal(text, row->masked);
}

/* The data is no text: it has a length and no NUL behind it. */
static void stays_inside_the_length(void **state)
{
	char data[] = MAC MAC;
	size_t len = sizeof(MAC) - 1;

	(void)state;
	data[len] = ' ';
	nfd_mask("x", data, len);
	assert_memory_equal(data, ZERO_MAC, len);
	assert_memory_equal(data + len, " c:1f", 5);
	memcpy(data, MAC, len);
	nfd_mask("x", data, len - 1);
	assert_memory_equal(data, MAC, len);
	nfd_mask("serial", data, 0);
	assert_memory_equal(data, MAC, len);
}

static void nul_bytes_are_data(void **state)
{
	char data[] = "a\0" MAC "\0b";

	(void)state;
	nfd_mask("x", data, sizeof(data) - 1);
	assert_memory_equal(data, "a\0" ZERO_MAC "\0b", sizeof(data));
}

int main(void)
{
	struct unit_suite suite = { .name = "mask" };

	UNIT_ROWS(&suite, masks, rows, name);
	UNIT_CASE(&suite, stays_inside_the_length);
	UNIT_CASE(&suite, nul_bytes_are_data);
	return unit_run(&suite);
}
