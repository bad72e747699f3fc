// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/os_release: values of the format, and the labels (field case I1; spec nfd.md 2.8).
 */
#include "config.h"

#include "scan/os_release.h"

#include <string.h>

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define ETC "etc/os-release"
#define USR "usr/lib/os-release"
#define OS "system-os_release."

static const struct {
	const char *name, *text, *value; /* of the key ID, in 16 bytes */
} value_rows[] = {
	{ "empty file", "", "" },
	{ "plain", "ID=debian\n", "debian" },
	{ "no newline", "ID=debian", "debian" },
	{ "missing", "NAME=x\nVERSION_ID=1\n", "" },
	{ "empty value", "ID=\n", "" },
	{ "empty quotes", "ID=\"\"\n", "" },
	{ "double quotes", "ID=\"a b\"\n", "a b" },
	{ "single quotes", "ID='a \"b'\n", "a \"b" },
	{ "escaped quote", "ID=\"a\\\"b\"\n", "a\"b" },
	{ "escaped dollar", "ID=\"a\\$b\"\n", "a$b" },
	{ "no escape in single quotes", "ID='a\\b'\n", "a\\b" },
	{ "mixed quotes", "ID=a\"b c\"'d'\n", "ab cd" },
	{ "CRLF", "ID=debian\r\nX=1\r\n", "debian" },
	{ "CRLF behind quotes", "ID=\"debian\"\r\n", "debian" },
	{ "comment", "#ID=x\nID=y\n", "y" },
	{ "blank lines", "\n\n\nID=y\n\n", "y" },
	{ "the last one wins", "ID=x\nID=y\n", "y" },
	{ "the last one is empty", "ID=x\nID=\n", "" },
	{ "key with a tail", "ID_LIKE=x\nIDX=y\n", "" },
	{ "key with a head", "BUILD_ID=x\n", "" },
	{ "quote without end", "ID=\"abc\nNAME=x\n", "abc" },
	{ "backslash at the end", "ID=a\\\n", "a\\" },
	{ "backslash at the end of the file", "ID=a\\", "a\\" },
	{ "as long as the buffer", "ID=012345678901234\n", "012345678901234" },
	{ "longer than the buffer", "ID=0123456789012345\n", "012345678901234" },
	{ "not UTF-8", "ID=\xff\n", "\xff" },
	{ "blank before the equals sign", "ID =x\n", "" },
};

static void reads_value(void **state)
{
	const __typeof__(value_rows[0]) *row = *state;
	char value[16];

	assert_int_equal(nfd_os_release_value(row->text, "ID", value, sizeof(value)),
			 strlen(row->value));
	assert_string_equal(value, row->value);
}

static const struct scan_row scan_rows[] = {
	{ "Ubuntu",
	  { FILE_AT(ETC, "ID=ubuntu\nVERSION_ID=\"24.04\"\n") },
	  OS "ID=ubuntu\n" OS "VERSION_ID=24.04\n" OS "VERSION_ID.major=24\n" OS
	     "VERSION_ID.minor=04\n" },
	{ "I1 Arch has no version",
	  { FILE_AT(ETC, "ID=arch\nBUILD_ID=rolling\n") },
	  OS "ID=arch\n" },
	{ "I1 empty version", { FILE_AT(ETC, "ID=x\nVERSION_ID=\n") }, OS "ID=x\n" },
	{ "I1 only usr/lib",
	  { FILE_AT(USR, "ID=x\nVERSION_ID=12\n") },
	  OS "ID=x\n" OS "VERSION_ID=12\n" OS "VERSION_ID.major=12\n" },
	{ "I1 CRLF, quotes, comment, no final newline",
	  { FILE_AT(ETC, "# c\r\n\r\nID='x'\r\nVERSION_ID=\"1.2.3\"") },
	  OS "ID=x\n" OS "VERSION_ID=1.2.3\n" OS "VERSION_ID.major=1\n" OS "VERSION_ID.minor=2\n" },
	{ "etc wins", { FILE_AT(ETC, "ID=e\n"), FILE_AT(USR, "ID=u\n") }, OS "ID=e\n" },
	{ "etc is a link, as on most hosts",
	  { FILE_AT(USR, "ID=u\n"), LINK_AT(ETC, "../usr/lib/os-release") },
	  OS "ID=u\n" },
	{ "dangling link in etc",
	  { FILE_AT(USR, "ID=u\n"), LINK_AT(ETC, "nowhere") },
	  OS "ID=u\n" },
	{ "version with a rest", { FILE_AT(ETC, "VERSION_ID=12-rc\n") }, OS "VERSION_ID=12-rc\n" },
	{ "Alpine edge: the rest begins behind the third number",
	  { FILE_AT(ETC, "VERSION_ID=3.21.0_alpha20240923\n") },
	  OS "VERSION_ID=3.21.0_alpha20240923\n" OS "VERSION_ID.major=3\n" OS
	     "VERSION_ID.minor=21\n" },
	{ "no minor number where it has a tail",
	  { FILE_AT(ETC, "VERSION_ID=3.21_alpha\n") },
	  OS "VERSION_ID=3.21_alpha\n" OS "VERSION_ID.major=3\n" },
	{ "a date of many digits",
	  { FILE_AT(ETC, "VERSION_ID=20240923000000000000.1\n") },
	  OS "VERSION_ID=20240923000000000000.1\n" OS "VERSION_ID.major=20240923000000000000\n" OS
	     "VERSION_ID.minor=1\n" },
	{ "illegal value is dropped",
	  { FILE_AT(ETC, "ID=\"a b\"\nVERSION_ID=1\n") },
	  OS "VERSION_ID=1\n" OS "VERSION_ID.major=1\n" },
	{ "neither", { DIR_AT("etc") }, "" },
	{ "unreadable", { DIR_AT(ETC) }, "unknown system-os_release.\n" },
	{ "loop",
	  { LINK_AT(ETC, "os-release"), FILE_AT(USR, "ID=u\n") },
	  OS "ID=u\nunknown system-os_release.\n" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_os_release_scanner, *state);
}

static void cap_of_the_file(void **state)
{
	const struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();

	(void)state;
	tree_file(tree, ETC, unit_text("%s\nID=x\n", unit_repeat('x', 16383 - 6)));
	assert_string_equal(scan_text(&nfd_os_release_scanner, tree_root(tree, false), &options,
				      false),
			    OS "ID=x\n");
	tree_file(tree, ETC, unit_text("%s\nID=x\n", unit_repeat('x', 16384 - 6)));
	assert_string_equal(scan_text(&nfd_os_release_scanner, tree_root(tree, false), &options,
				      false),
			    "unknown system-os_release.\n");
}

int main(void)
{
	struct unit_suite suite = { .name = "os_release" };

	UNIT_ROWS(&suite, reads_value, value_rows, name);
	UNIT_ROWS(&suite, scans, scan_rows, name);
	UNIT_CASE(&suite, cap_of_the_file);
	return unit_run(&suite);
}
