// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/storage: spec nfd.md 2.7 and 3.
 */
#include "config.h"

#include "scan/storage.h"

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define BLOCK "sys/block/"
#define LABEL "storage-nonrotationaldisk=true\n"

static const struct scan_row rows[] = {
	{ "no block layer", { DIR_AT("sys") }, "", .features = "" },
	{ "no devices", { DIR_AT(BLOCK) }, "", .features = "instances storage.block\n" },
	{ "a rotating disk",
	  { FILE_AT(BLOCK "sda/queue/rotational", "1\n"), FILE_AT(BLOCK "sda/queue/dax", "0\n"),
	    FILE_AT(BLOCK "sda/queue/nr_zones", "0\n"),
	    FILE_AT(BLOCK "sda/queue/zoned", "none\n") },
	  "",
	  .features =
		  "instance storage.block name=sda dax=0 rotational=1 nr_zones=0 zoned=none\n" },
	{ "a flash disk behind it",
	  { FILE_AT(BLOCK "sda/queue/rotational", "1\n"),
	    FILE_AT(BLOCK "sdb/queue/rotational", "0\n") },
	  LABEL,
	  .features = "instance storage.block name=sda rotational=1\n"
		      "instance storage.block name=sdb rotational=0\n" },
	{ "a loop device counts, as in NFD",
	  { FILE_AT(BLOCK "loop0/queue/rotational", "0\n"),
	    FILE_AT(BLOCK "sda/queue/rotational", "1\n") },
	  LABEL,
	  .features = "instance storage.block name=loop0 rotational=0\n"
		      "instance storage.block name=sda rotational=1\n" },
	{ "without a queue",
	  { DIR_AT(BLOCK "sda") },
	  "",
	  .features = "instance storage.block name=sda\n" },
	{ "neither 0 nor 1",
	  { FILE_AT(BLOCK "sda/queue/rotational", "00\n") },
	  "",
	  .features = "instance storage.block name=sda rotational=00\n" },
	{ "one device is not readable",
	  { DIR_AT(BLOCK "sda/queue/rotational") },
	  "unknown storage-nonrotationaldisk\n",
	  .features = "instance storage.block name=sda\n" },
	{ "devices are not readable",
	  { LINK_AT("sys/block", "block") },
	  "unknown storage-nonrotationaldisk\n",
	  .features = "" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_storage_scanner, *state);
}

static void text_that_is_too_long_is_left_out(void **state)
{
	const struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();

	(void)state;
	tree_file(tree, BLOCK "sda/queue/zoned", unit_repeat('x', 511));
	tree_file(tree, BLOCK "sdb/queue/zoned", unit_repeat('x', 512));
	assert_string_equal(scan_features(&nfd_storage_scanner, tree_root(tree, false), &options),
			    unit_text("instance storage.block name=sda zoned=%s\n"
				      "instance storage.block name=sdb\n",
				      unit_repeat('x', 511)));
}

int main(void)
{
	struct unit_suite suite = { .name = "storage" };

	UNIT_ROWS(&suite, scans, rows, name);
	UNIT_CASE(&suite, text_that_is_too_long_is_left_out);
	return unit_run(&suite);
}
