// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/nvidia_library: where the library lies and which version it is (field case J4).
 */
#include "config.h"

#include "scan/nvidia_library.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/ld_cache_blob.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define ML "libnvidia-ml.so"
#define X86 "usr/lib/x86_64-linux-gnu/"
#define DRIVER "run/nvidia/driver/"
#define ELF64 "\177ELF\002"
#define ELF32 "\177ELF\001"

#define LIBRARY_AT(dir, v) FILE_AT(dir ML "." v, ELF64 "\001"), LINK_AT(dir ML ".1", ML "." v)

static const struct {
	const char *name;
	struct tree_entry tree[10];
	const char *quick, *deep; /* "version path" a line */
	int error;
} rows[] = {
	{ "nothing", { DIR_AT("usr") }, "", "", 0 },
	{ "link",
	  { LIBRARY_AT(X86, "580.126.09") },
	  "580.126.09 " X86 ML ".580.126.09\n",
	  "580.126.09 " X86 ML ".580.126.09\n",
	  0 },
	{ "two parts",
	  { LIBRARY_AT("usr/lib64/", "390.157") },
	  "390.157 usr/lib64/" ML ".390.157\n",
	  "390.157 usr/lib64/" ML ".390.157\n",
	  0 },
	{ "link through other folders",
	  { FILE_AT("opt/d/" ML ".580.1.2", ""), LINK_AT(X86 ML ".1", "/etc/alternatives/x"),
	    LINK_AT("etc/alternatives/x", "/opt/d/" ML ".580.1.2") },
	  "580.1.2 opt/d/" ML ".580.1.2\n",
	  "580.1.2 opt/d/" ML ".580.1.2\n",
	  0 },
	{ "usr-merge: one file, several names",
	  { LIBRARY_AT(X86, "580.1.2"), LINK_AT("lib", "usr/lib") },
	  "580.1.2 " X86 ML ".580.1.2\n",
	  "580.1.2 " X86 ML ".580.1.2\n",
	  0 },
	{ "J4 driver root first",
	  { LIBRARY_AT(DRIVER X86, "580.2"), LIBRARY_AT(X86, "550.1") },
	  "580.2 " DRIVER X86 ML ".580.2\n550.1 " X86 ML ".550.1\n",
	  "580.2 " DRIVER X86 ML ".580.2\n550.1 " X86 ML ".550.1\n",
	  0 },
	{ "J4 empty leftover",
	  { DIR_AT("run/nvidia/driver"), LIBRARY_AT(X86, "550.1") },
	  "550.1 " X86 ML ".550.1\n",
	  "550.1 " X86 ML ".550.1\n",
	  0 },
	{ "J4 GKE",
	  { LIBRARY_AT("home/kubernetes/bin/nvidia/lib64/", "535.1") },
	  "535.1 home/kubernetes/bin/nvidia/lib64/" ML ".535.1\n",
	  "535.1 home/kubernetes/bin/nvidia/lib64/" ML ".535.1\n",
	  0 },
	{ "J4 Talos",
	  { LIBRARY_AT("usr/local/glibc/usr/lib/", "535.1") },
	  "535.1 usr/local/glibc/usr/lib/" ML ".535.1\n",
	  "535.1 usr/local/glibc/usr/lib/" ML ".535.1\n",
	  0 },
	{ "versioned files without a link",
	  { FILE_AT(X86 ML ".580.1.2", ELF64), FILE_AT(X86 "libcuda.so.570.1", ELF64) },
	  "",
	  "570.1 " X86 "libcuda.so.570.1\n580.1.2 " X86 ML ".580.1.2\n",
	  0 },
	{ "the link is in force before other files",
	  { LIBRARY_AT(X86, "580.1.2"), FILE_AT(X86 ML ".570.9", ELF64) },
	  "580.1.2 " X86 ML ".580.1.2\n",
	  "580.1.2 " X86 ML ".580.1.2\n570.9 " X86 ML ".570.9\n",
	  0 },
	{ "32-bit libraries do not count",
	  { FILE_AT("usr/lib64/" ML ".580.1.2", ELF32),
	    LINK_AT("usr/lib64/" ML ".1", ML ".580.1.2") },
	  "",
	  "",
	  0 },
	{ "a file named .so.1 has no version", { FILE_AT(X86 ML ".1", ELF64) }, "", "", 0 },
	{ "no versions",
	  { FILE_AT(X86 ML ".580", ""), FILE_AT(X86 ML ".580.", ""), FILE_AT(X86 ML "..580.1", ""),
	    FILE_AT(X86 ML ".1.2.3.4", ""), FILE_AT(X86 ML ".580..1", ""),
	    FILE_AT(X86 ML ".580.1-x", ""), FILE_AT(X86 ML ".580.1.bak", ""),
	    FILE_AT(X86 ML ".1.1234567890123456789012345678901", "") },
	  "",
	  "",
	  0 },
	{ "dangling link", { LINK_AT(X86 ML ".1", ML ".580.1.2") }, "", "", 0 },
	{ "link that leaves the root",
	  { LINK_AT(X86 ML ".1", "../../../../../../../../" ML ".580.1.2"),
	    FILE_AT(ML ".580.1.2", "") },
	  "580.1.2 " ML ".580.1.2\n",
	  "580.1.2 " ML ".580.1.2\n",
	  0 },
	{ "loop leaves it open", { LINK_AT(X86 ML ".1", ML ".1") }, "", "", -ELOOP },
	{ "loop in a driver root leaves it open",
	  { LINK_AT("run/nvidia", "nvidia") },
	  "",
	  "",
	  -ELOOP },
};

static const char *text_of(const struct nfd_root *root, bool deep, int *ret_error)
{
	struct nfd_nvidia_libraries libraries;
	const char *text = "";

	nfd_nvidia_libraries_find(root, NULL, deep, &libraries);
	for (size_t i = 0; i < libraries.count; i++)
		text = unit_text("%s%s %s\n", text, libraries.library[i].version,
				 libraries.library[i].path);
	*ret_error = libraries.error;
	return text;
}

static void finds(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	const char *tree = tree_new();
	int error;

	tree_fill(tree, row->tree);
	for (int no_openat2 = 0; no_openat2 <= 1; no_openat2++) {
		assert_string_equal(text_of(tree_root(tree, no_openat2), false, &error),
				    row->quick);
		assert_int_equal(error, row->error);
		assert_string_equal(text_of(tree_root(tree, no_openat2), true, &error), row->deep);
		assert_int_equal(error, row->error);
	}
}

static void reads_the_cache(void **state)
{
	const struct ld_cache_entry entries[] = {
		{ ML ".1", "/opt/odd/place/" ML ".1", LD_CACHE_X86_64 },
		{ ML ".1", "relative/" ML ".1", LD_CACHE_X86_64 },
		{ 0 },
	};
	const struct tree_entry entry[] = { LIBRARY_AT("opt/odd/place/", "580.1.2"), { 0 } };
	const char *tree = tree_new();
	size_t size;
	char *data = ld_cache_blob(entries, -1, &size);
	int error;

	(void)state;
	tree_fill(tree, entry);
	tree_bytes(tree, "etc/ld.so.cache", data, size);
	assert_string_equal(text_of(tree_root(tree, false), false, &error), "");
	assert_string_equal(text_of(tree_root(tree, false), true, &error),
			    "580.1.2 opt/odd/place/" ML ".580.1.2\n");
	assert_int_equal(error, 0);
}

/* Field case J4: a folder that is named decides alone, with and without slashes around it. */
static void searches_the_named_folder(void **state)
{
	static const char *const dirs[] = { "opt/odd", "/opt/odd", "/opt/odd/" };
	const struct tree_entry entries[] = { LIBRARY_AT(X86, "570.1.2"),
					      LIBRARY_AT("opt/odd/", "580.1.2"),
					      { 0 } };
	const char *tree = tree_new();
	struct nfd_nvidia_libraries libraries;

	(void)state;
	tree_fill(tree, entries);
	for (size_t i = 0; i < NFD_ARRAY_SIZE(dirs); i++) {
		nfd_nvidia_libraries_find(tree_root(tree, false), dirs[i], false, &libraries);
		assert_int_equal(libraries.count, 1);
		assert_string_equal(libraries.library[0].version, "580.1.2");
	}
	nfd_nvidia_libraries_find(tree_root(tree, false), "opt/none", true, &libraries);
	assert_int_equal(libraries.count, 0);
	assert_int_equal(libraries.error, 0);
}

static void is_bounded(void **state)
{
	const char *tree = tree_new();
	struct nfd_nvidia_libraries libraries;

	(void)state;
	for (int i = 0; i < NFD_NVIDIA_LIBRARIES_MAX + 5; i++)
		tree_file(tree, unit_text("usr/lib64/" ML ".5%02d.1", i), ELF64);
	nfd_nvidia_libraries_find(tree_root(tree, false), "", true, &libraries);
	assert_int_equal(libraries.count, NFD_NVIDIA_LIBRARIES_MAX);
}

static void tables(void **state)
{
	size_t count;
	const char *const *roots = nfd_nvidia_driver_roots(&count);
	const char *const *dirs;

	(void)state;
	assert_string_equal(roots[0], "run/nvidia/driver");
	assert_string_equal(roots[count - 1], "");
	dirs = nfd_nvidia_library_dirs(&count);
	assert_true(count > 1);
	assert_string_equal(dirs[0], "");
	for (size_t i = 1; i < count; i++)
		assert_true(dirs[i][0] != '/' && dirs[i][strlen(dirs[i]) - 1] != '/');
}

int main(void)
{
	struct unit_suite suite = { .name = "nvidia_library" };

	UNIT_ROWS(&suite, finds, rows, name);
	UNIT_CASE(&suite, reads_the_cache);
	UNIT_CASE(&suite, searches_the_named_folder);
	UNIT_CASE(&suite, is_bounded);
	UNIT_CASE(&suite, tables);
	return unit_run(&suite);
}
