// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/kernel_config: where it is found, and what a configuration says (spec nfd.md 2.2 and 3).
 */
#include "config.h"

#include "scan/kernel_config.h"

#include <string.h>

#include "tests/unit/gzip.h"
#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define BOOT "boot/config-6.1.0"
#define RELEASE FILE_AT("proc/sys/kernel/osrelease", "6.1.0\n")
#define K "kernel-config."
#define FEATURE "attributes kernel.config"

static const struct scan_row rows[] = {
	{ "nothing is there", { RELEASE }, "", .features = "" },
	{ "labels of the default options",
	  { RELEASE,
	    FILE_AT(BOOT, "#\n# Automatically generated\n#\nCONFIG_CC_VERSION_TEXT=\"gcc 12\"\n"
			  "CONFIG_NO_HZ=y\n# CONFIG_NO_HZ_IDLE is not set\nCONFIG_NO_HZ_FULL=m\n"
			  "CONFIG_PREEMPT=\"dynamic\"\nCONFIG_HZ=250\n") },
	  K "NO_HZ=true\n" K "NO_HZ_FULL=true\n" K "PREEMPT=dynamic\n",
	  .features = FEATURE " CC_VERSION_TEXT=gcc 12 NO_HZ=y NO_HZ_FULL=m "
			      "PREEMPT=dynamic HZ=250\n" },
	{ "a quoted y is no y; quotes at both ends go, as in NFD",
	  { RELEASE, FILE_AT(BOOT, "CONFIG_NO_HZ=\"y\"\nCONFIG_NO_HZ_IDLE=n\nCONFIG_A=\"\"\n"
				   "CONFIG_B=\"a\"b\"\"\nCONFIG_C=a=b\nCONFIG_D=\n") },
	  K "NO_HZ=y\n" K "NO_HZ_IDLE=n\n",
	  .features = FEATURE " NO_HZ=y NO_HZ_IDLE=n A= B=a\"b C=a=b D=\n" },
	{ "an illegal value is no label, an empty one is",
	  { RELEASE, FILE_AT(BOOT, "CONFIG_NO_HZ=\"a b\"\nCONFIG_PREEMPT=\n") },
	  K "PREEMPT=\n",
	  .features = FEATURE " NO_HZ=a b PREEMPT=\n" },
	{ "the last line of a name wins",
	  { RELEASE, FILE_AT(BOOT, "CONFIG_NO_HZ=y\nCONFIG_A=1\nCONFIG_NO_HZ=0\nCONFIG_A=2\n"
				   "CONFIG_A=3\n") },
	  K "NO_HZ=0\n",
	  .features = FEATURE " NO_HZ=0 A=3\n" },
	{ "lines of another form",
	  { RELEASE, FILE_AT(BOOT, " CONFIG_A=y\nNO_HZ=y\nCONFIG_NO_HZ\nCONFIG_=y\nconfig_B=y\n"
				   "CONFIG_NO_HZ =y\nCONFIG_X\xff=y\nCONFIG_\n") },
	  "",
	  .features = FEATURE "\n" },
	{ "CRLF: the value has it, so there is no label, as in NFD",
	  { RELEASE, FILE_AT(BOOT, "CONFIG_NO_HZ=y\r\n") },
	  "",
	  .features = FEATURE " NO_HZ=y\r\n" },
	{ "an empty file is a configuration",
	  { RELEASE, FILE_AT("usr/src/linux/.config", ""), FILE_AT(BOOT, "CONFIG_NO_HZ=y\n") },
	  "",
	  .features = FEATURE "\n" },
	{ "what cannot be read is passed over",
	  { RELEASE, FILE_AT("proc/config.gz", "no gzip"), DIR_AT("usr/src/linux/.config"),
	    FILE_AT(BOOT, "CONFIG_NO_HZ=y\n") },
	  K "NO_HZ=true\n",
	  .features = FEATURE " NO_HZ=y\n" },
	{ "nothing but what cannot be read",
	  { RELEASE, FILE_AT("proc/config.gz", "no gzip") },
	  "unknown kernel-config.\n",
	  .features = "" },
	{ "without the release one place is left",
	  { FILE_AT(BOOT, "CONFIG_NO_HZ=y\n"),
	    FILE_AT("usr/src/linux/.config", "CONFIG_NO_HZ=n\n") },
	  K "NO_HZ=n\n",
	  .features = FEATURE " NO_HZ=n\n" },
	{ "a release that leads elsewhere stays below the root",
	  { FILE_AT("proc/sys/kernel/osrelease", "../../../../etc/x\n"),
	    FILE_AT("etc/x/config", "CONFIG_NO_HZ=y\n"), DIR_AT("usr/lib/modules") },
	  K "NO_HZ=true\n" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_kernel_config_scanner, *state);
}

/* The order of the places: each with its own text, then the first is taken away. */
static void places_in_order(void **state)
{
	static const char *const places[] = {
		"custom/config",
		"proc/config.gz",
		"usr/src/linux-6.1.0/.config",
		"usr/src/linux-rt-6.1.0/.config",
		"usr/src/linux/.config",
		"usr/lib/modules/6.1.0/config",
		"usr/lib/ostree-boot/config-6.1.0",
		"usr/lib/kernel/config-6.1.0",
		"usr/src/linux-headers-6.1.0/.config",
		"lib/modules/6.1.0/build/.config",
		"usr/src/linux-rt-headers-6.1.0/.config",
		"boot/config-6.1.0",
	};
	struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();
	const struct nfd_root *root = tree_root(tree, false);

	(void)state;
	options.kernel.config_file = (char[]){ "/custom/config" };
	tree_fill(tree, (struct tree_entry[]){ RELEASE, { 0 } });
	for (size_t i = 0; i < NFD_ARRAY_SIZE(places); i++) {
		const char *text = unit_text("CONFIG_NO_HZ=%zu\n", i);
		struct gzip_data data = gzip(text, strlen(text));

		if (i == 1)
			tree_bytes(tree, places[i], data.data, data.len);
		else
			tree_file(tree, places[i], text);
	}
	for (size_t i = 0; i < NFD_ARRAY_SIZE(places); i++) {
		assert_string_equal(scan_text(&nfd_kernel_config_scanner, root, &options, false),
				    unit_text(K "NO_HZ=%zu\n", i));
		assert_int_equal(unlink(tree_path(tree, places[i])), 0);
	}
}

static void a_packed_file_of_the_settings(void **state)
{
	struct gzip_data data = gzip("CONFIG_PREEMPT=y\n", 17);
	struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();

	(void)state;
	options.kernel.config_file = (char[]){ "/etc/kernel.gz" };
	tree_bytes(tree, "etc/kernel.gz", data.data, data.len);
	assert_string_equal(scan_text(&nfd_kernel_config_scanner, tree_root(tree, false), &options,
				      false),
			    K "PREEMPT=true\n");
	/* Without options that give labels nobody looks, until features are wanted. */
	options.kernel.config_opts.count = 0;
	assert_string_equal(scan_text(&nfd_kernel_config_scanner, tree_root(tree, false), &options,
				      false),
			    "");
	assert_string_equal(scan_features(&nfd_kernel_config_scanner, tree_root(tree, false),
					  &options),
			    FEATURE " PREEMPT=y\n");
}

static void lists_of_any_length(void **state)
{
	for (int count = 0; count <= 20; count++) {
		cleanup_free struct nfd_kernel_option *option = NULL;
		char *text = unit_text("%s", "");

		(void)state;
		for (int i = 0; i < count; i++)
			text = unit_text("%sCONFIG_O%d=%d\n", text, i, i);
		assert_int_equal(nfd_kernel_config_parse(text, &option), count);
		for (int i = 0; i < count; i++) {
			assert_string_equal(option[i].name, unit_text("O%d", i));
			assert_string_equal(option[i].value, unit_text("%d", i));
		}
	}
}

int main(void)
{
	struct unit_suite suite = { .name = "kernel_config" };

	UNIT_ROWS(&suite, scans, rows, name);
	UNIT_CASE(&suite, places_in_order);
	UNIT_CASE(&suite, a_packed_file_of_the_settings);
	UNIT_CASE(&suite, lists_of_any_length);
	return unit_run(&suite);
}
