// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/nvidia: the driver's version line (field case J1), module facts, and the match.
 */
#include "config.h"

#include "scan/nvidia.h"

#include <errno.h>

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define PROC "proc/driver/nvidia/version"
#define SYS "sys/module/nvidia/version"
#define TAINT "sys/module/nvidia/taint"
#define LIB "usr/lib/x86_64-linux-gnu/"
#define D "driver-nvidia."

#define CLOSED "NVRM version: NVIDIA UNIX x86_64 Kernel Module  "
#define OPEN "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
#define GCC "\nGCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2)\n"

static const struct {
	const char *name, *text, *version, *flavor;
} line_rows[] = {
	{ "J1 a proprietary", CLOSED "550.90.07  Fri May 31 09:35:42 UTC 2024" GCC, "550.90.07",
	  "proprietary" },
	{ "J1 b open", OPEN "565.57.01  Release Build  (dvs-builder@U16)  Thu Oct 10" GCC,
	  "565.57.01", "open" },
	{ "J1 c open, new text",
	  "NVRM version: NVIDIA UNIX Open Kernel x86_64 Kernel Module  590.48.01  Mon Dec  8 2025" GCC,
	  "590.48.01", "open" },
	{ "J1 d aarch64",
	  "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  35.3.1  Release Build  (b@h)" GCC,
	  "35.3.1", "open" },
	{ "J1 empty", "", "", NULL },
	{ "two parts", CLOSED "390.157  Wed Oct 12" GCC, "390.157", "proprietary" },
	{ "one line without newline", CLOSED "550.90.07", "550.90.07", "proprietary" },
	{ "no version, the compiler's is not taken", CLOSED GCC, "", NULL },
	{ "only the compiler's line", "GCC version:  gcc version 13.3.0\n", "", NULL },
	{ "Module on line 2", "NVRM version: x\nModule  550.90.07\n", "", NULL },
	{ "Open Kernel on line 2", CLOSED "550.90.07\nOpen Kernel\n", "550.90.07", "proprietary" },
	{ "version before the word", "NVRM 1.2.3 Kernel Module\n", "", NULL },
	{ "four parts are none", CLOSED "1.2.3.4  x\n", "", NULL },
	{ "one part is none", CLOSED "550  x\n", "", NULL },
	{ "text at the number is none", CLOSED "550.90.07-x\n", "", NULL },
	{ "the first that fits", CLOSED "2024 550.90.07 1.2\n", "550.90.07", "proprietary" },
	{ "too long", CLOSED "1.2.3000000000000000000000000000\n", "", NULL },
	{ "carriage return", CLOSED "550.90.07\r\n", "550.90.07", "proprietary" },
	{ "tabs", "Module\t550.90.07\n", "550.90.07", "proprietary" },
	{ "not UTF-8", "\xff Module \xfe 550.90.07\n", "550.90.07", "proprietary" },
	{ "word alone", "Module", "", NULL },
};

static void parses_line(void **state)
{
	const __typeof__(line_rows[0]) *row = *state;
	char version[NFD_NVIDIA_VERSION_SIZE] = "unset";
	const char *flavor = "unset";

	nfd_nvidia_parse_version(row->text, version, &flavor);
	assert_string_equal(version, row->version);
	if (row->flavor)
		assert_string_equal(flavor, row->flavor);
	else
		assert_null(flavor);
}

static const struct {
	const char *name;
	struct tree_entry tree[6];
	const char *version, *path, *flavor;
	int error;
} module_rows[] = {
	{ "not loaded", { DIR_AT("sys") }, "", "", NULL, 0 },
	{ "both files",
	  { FILE_AT(PROC, OPEN "565.57.01  x" GCC), FILE_AT(SYS, "565.57.01\n") },
	  "565.57.01",
	  SYS,
	  "open",
	  0 },
	{ "proc alone",
	  { FILE_AT(PROC, CLOSED "550.90.07  x" GCC) },
	  "550.90.07",
	  PROC,
	  "proprietary",
	  0 },
	{ "J1 sys alone", { FILE_AT(SYS, "550.90.07\n") }, "550.90.07", SYS, NULL, 0 },
	{ "sys alone, tainted P",
	  { FILE_AT(SYS, "550.90.07\n"), FILE_AT(TAINT, "POE\n") },
	  "550.90.07",
	  SYS,
	  "proprietary",
	  0 },
	{ "sys alone, tainted OE",
	  { FILE_AT(SYS, "550.90.07\n"), FILE_AT(TAINT, "OE\n") },
	  "550.90.07",
	  SYS,
	  NULL,
	  0 },
	{ "sys decides",
	  { FILE_AT(PROC, CLOSED "550.90.07" GCC), FILE_AT(SYS, "565.57.01\n") },
	  "565.57.01",
	  SYS,
	  "proprietary",
	  0 },
	{ "J1 empty proc file",
	  { FILE_AT(PROC, ""), FILE_AT(SYS, "550.90.07\n") },
	  "550.90.07",
	  SYS,
	  NULL,
	  0 },
	{ "empty sys file",
	  { FILE_AT(PROC, CLOSED "550.90.07" GCC), FILE_AT(SYS, "\n") },
	  "550.90.07",
	  PROC,
	  "proprietary",
	  0 },
	{ "sys unreadable, proc says it",
	  { FILE_AT(PROC, CLOSED "550.90.07" GCC), DIR_AT(SYS) },
	  "550.90.07",
	  PROC,
	  "proprietary",
	  0 },
	{ "proc unreadable, sys says it",
	  { DIR_AT(PROC), FILE_AT(SYS, "550.90.07\n") },
	  "550.90.07",
	  SYS,
	  NULL,
	  0 },
	{ "both unreadable", { DIR_AT(PROC), DIR_AT(SYS) }, "", "", NULL, -EISDIR },
	{ "sys loop", { LINK_AT(SYS, "version") }, "", "", NULL, -ELOOP },
	{ "sys too long",
	  { FILE_AT(PROC, CLOSED "550.90.07" GCC),
	    FILE_AT(SYS, "0123456789012345678901234567890123456789\n") },
	  "550.90.07",
	  PROC,
	  "proprietary",
	  0 },
};

static void reads_module(void **state)
{
	const __typeof__(module_rows[0]) *row = *state;
	struct nfd_nvidia_module module;
	const char *tree = tree_new();

	tree_fill(tree, row->tree);
	for (int no_openat2 = 0; no_openat2 <= 1; no_openat2++) {
		nfd_nvidia_module_read(tree_root(tree, no_openat2), &module);
		assert_string_equal(module.version, row->version);
		assert_string_equal(module.path, row->path);
		assert_int_equal(module.error, row->error);
		if (row->flavor)
			assert_string_equal(module.flavor, row->flavor);
		else
			assert_null(module.flavor);
	}
}

#define LOADED(v) FILE_AT(PROC, OPEN v "  x" GCC), FILE_AT(SYS, v "\n")
#define LIBRARY(v)                             \
	FILE_AT(LIB "libnvidia-ml.so." v, ""), \
		LINK_AT(LIB "libnvidia-ml.so.1", "libnvidia-ml.so." v)
#define VERSION_LABELS(v, major, minor, revision)                                              \
	D "version.full=" v "\n" D "version.major=" major "\n" D "version.minor=" minor "\n" D \
	  "version.revision=" revision "\n"

static const struct scan_row scan_rows[] = {
	{ "nothing", { DIR_AT("sys") }, "" },
	{ "module and library agree",
	  { LOADED("580.126.09"), LIBRARY("580.126.09") },
	  D "flavor=open\n" D "library.version.full=580.126.09\n" D
	    "match=true\n" VERSION_LABELS("580.126.09", "580", "126", "09") },
	{ "J2 module and library differ",
	  { LOADED("580.126.09"), LIBRARY("580.159.03") },
	  D "flavor=open\n" D "library.version.full=580.159.03\n" D
	    "match=false\n" VERSION_LABELS("580.126.09", "580", "126", "09") },
	{ "no library: no word on a match",
	  { LOADED("580.126.09") },
	  D "flavor=open\n" VERSION_LABELS("580.126.09", "580", "126", "09") },
	{ "no module: no word on a match",
	  { LIBRARY("580.126.09") },
	  D "library.version.full=580.126.09\n" },
	{ "module unreadable",
	  { DIR_AT(SYS), LIBRARY("580.126.09") },
	  D "library.version.full=580.126.09\nunknown " D "version\nunknown " D "flavor\nunknown " D
	    "match\n" },
	{ "library unreadable",
	  { LOADED("580.126.09"), LINK_AT(LIB "libnvidia-ml.so.1", "libnvidia-ml.so.1") },
	  D "flavor=open\n" VERSION_LABELS("580.126.09", "580", "126",
					   "09") "unknown " D "library\nunknown " D "match\n" },
	{ "versioned file without a link needs a reason to look",
	  { FILE_AT(LIB "libnvidia-ml.so.580.126.09", "") },
	  "" },
	{ "versioned file without a link, with a device",
	  { FILE_AT(LIB "libnvidia-ml.so.580.126.09", ""),
	    PCI_UNBOUND_AT("0000:01:00.0", "30200", "10DE:1") },
	  D "library.version.full=580.126.09\n" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_nvidia_scanner, *state);
}

int main(void)
{
	struct unit_suite suite = { .name = "nvidia" };

	UNIT_ROWS(&suite, parses_line, line_rows, name);
	UNIT_ROWS(&suite, reads_module, module_rows, name);
	UNIT_ROWS(&suite, scans, scan_rows, name);
	return unit_run(&suite);
}
