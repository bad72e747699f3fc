// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/kernel_modules: spec nfd.md 3.
 */
#include "config.h"

#include "scan/kernel_modules.h"

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define LOADED "proc/modules"
#define BUILTIN "lib/modules/6.1.0/modules.builtin"
#define RELEASE FILE_AT("proc/sys/kernel/osrelease", "6.1.0\n")

static const struct scan_row rows[] = {
	{ "nothing is there", { DIR_AT("proc") }, "", .features = "" },
	{ "loaded ones, sorted, each once",
	  { FILE_AT(LOADED, "ice 1 0 - Live 0x0\nib_core 2 1 mlx5_ib, Live 0x0 (OE)\n\nice 1\nx") },
	  "",
	  .features = "flags kernel.loadedmodule ib_core ice x\n" },
	{ "none loaded", { FILE_AT(LOADED, "") }, "", .features = "flags kernel.loadedmodule\n" },
	{ "built in and loaded",
	  { RELEASE, FILE_AT(LOADED, "ice 1 0 - Live 0x0\nxfs 1 0 - Live 0x0\n"),
	    FILE_AT(BUILTIN,
		    "kernel/fs/ext4/ext4.ko\nkernel/crypto/sha256-x.ko\nkernel/a/ice.ko\r\n"
		    "kernel/a/packed.ko.xz\nbare.ko\n.ko\n\n") },
	  "",
	  .features = "flags kernel.loadedmodule ice xfs\n"
		      "flags kernel.enabledmodule bare ext4 ice sha256-x xfs\n" },
	{ "built in alone",
	  { RELEASE, FILE_AT(BUILTIN, "kernel/fs/ext4/ext4.ko\n") },
	  "",
	  .features = "flags kernel.enabledmodule ext4\n" },
	{ "loaded ones are not readable",
	  { RELEASE, DIR_AT(LOADED), FILE_AT(BUILTIN, "kernel/fs/ext4/ext4.ko\n") },
	  "",
	  .features = "flags kernel.enabledmodule ext4\n" },
	{ "the release is not known",
	  { FILE_AT(LOADED, "ice 1\n"), FILE_AT(BUILTIN, "kernel/fs/ext4/ext4.ko\n") },
	  "",
	  .features = "flags kernel.loadedmodule ice\n" },
	{ "a name that is no UTF-8 is left out",
	  { FILE_AT(LOADED, "a\xff 1\nb 1\n") },
	  "",
	  .features = "flags kernel.loadedmodule b\n" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_kernel_modules_scanner, *state);
}

/* Lists of any length, and names that leave some out between. */
static void long_lists(void **state)
{
	const struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	const struct nfd_root *root = tree_root(tree, false);

	(void)state;
	tree_fill(tree, (struct tree_entry[]){ RELEASE, { 0 } });
	for (int count = 1; count <= 20; count++) {
		const char *loaded = "", *builtin = "", *expected = "", *more = "";

		for (int i = 0; i < count; i++) {
			loaded = unit_text("%sm%02d 1\nm%02d 1\n", loaded, i, i);
			builtin = unit_text("%sx/n%02d.ko\nx/m%02d.ko\n", builtin, i, i);
			expected = unit_text("%s m%02d", expected, i);
			more = unit_text("%s n%02d", more, i);
		}
		tree_file(tree, LOADED, loaded);
		tree_file(tree, BUILTIN, builtin);
		assert_string_equal(scan_features(&nfd_kernel_modules_scanner, root, &options),
				    unit_text("flags kernel.loadedmodule%s\n"
					      "flags kernel.enabledmodule%s%s\n",
					      expected, expected, more));
	}
}

int main(void)
{
	struct unit_suite suite = { .name = "kernel_modules" };

	UNIT_ROWS(&suite, scans, rows, name);
	UNIT_CASE(&suite, long_lists);
	return unit_run(&suite);
}
