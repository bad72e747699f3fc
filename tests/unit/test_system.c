// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/system: spec nfd.md 2.8 and 3.
 */
#include "config.h"

#include "scan/system.h"

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define ETC "etc/os-release"
#define DMI "sys/devices/virtual/dmi/id/"
#define NAME "attributes system.name nodename=node-a\n"
#define OS "attributes system.osrelease"

static const struct scan_row rows[] = {
	{ "nothing is there", { DIR_AT("sys") }, "", .features = NAME },
	{ "os-release",
	  { FILE_AT(ETC, "NAME=\"Ubuntu\"\nVERSION_ID='24.04'\nVERSION=\"24.04.1 LTS (X)\"\n"
			 "# a comment\n\nHOME_URL=\"https://x/?a=b\"\n") },
	  "",
	  .features = NAME OS " NAME=Ubuntu VERSION_ID=24.04 VERSION=24.04.1 LTS (X) "
			      "HOME_URL=https://x/?a=b VERSION_ID.major=24 "
			      "VERSION_ID.minor=04\n" },
	{ "an empty os-release", { FILE_AT(ETC, "") }, "", .features = NAME OS "\n" },
	{ "usr/lib is not looked at, as in NFD",
	  { FILE_AT("usr/lib/os-release", "ID=x\n") },
	  "",
	  .features = NAME },
	{ "lines of another form",
	  { FILE_AT(ETC, " ID=a\nID =b\nI-D=c\n=d\nEMPTY=\nexport X=1\nCR=\r\nQUOTES=\"\"\n") },
	  "",
	  .features = NAME OS " QUOTES=\n" },
	{ "quotes go at both ends, escapes stay, as in NFD",
	  { FILE_AT(ETC, "A='\"x\"'\nB=\"a\\\"b\\\"\"\nC=it's\nD='open\n") },
	  "",
	  .features = NAME OS " A=x B=a\\\"b\\ C=it's D=open\n" },
	{ "CRLF, no final newline",
	  { FILE_AT(ETC, "ID=\"x\"\r\nVERSION_ID=7\r\nY= z ") },
	  "",
	  .features = NAME OS " ID=x VERSION_ID=7 Y= z  VERSION_ID.major=7\n" },
	{ "the last line of a name wins",
	  { FILE_AT(ETC, "VERSION_ID=1.2\nID=a\nVERSION_ID=3\nID=b\n") },
	  "",
	  .features = NAME OS " VERSION_ID=3 ID=b VERSION_ID.major=3\n" },
	{ "a version of another form",
	  { FILE_AT(ETC, "VERSION_ID=rolling\n") },
	  "",
	  .features = NAME OS " VERSION_ID=rolling\n" },
	{ "what is no UTF-8",
	  { FILE_AT(ETC, "A=\xe9t\xe9\n") },
	  "",
	  .features = NAME OS " A=\xef\xbf\xbdt\xef\xbf\xbd\n" },
	{ "DMI",
	  { FILE_AT(DMI "sys_vendor", "Dell Inc.\n"),
	    FILE_AT(DMI "product_name", " PowerEdge R760xa \n"), FILE_AT(DMI "product_sku", "\n"),
	    FILE_AT(DMI "product_serial", "SECRET\n"), FILE_AT(DMI "modalias", "dmi:x\n"),
	    DIR_AT(DMI "board_name"), FILE_AT(DMI "bios_date", "01/02/2026\n") },
	  "",
	  .features = NAME "attributes system.dmiid bios_date=01/02/2026 "
			   "product_name=PowerEdge R760xa product_sku= sys_vendor=Dell Inc.\n" },
	{ "DMI without one readable file",
	  { DIR_AT(DMI "board_name"), FILE_AT(DMI "product_serial", "SECRET\n") },
	  "",
	  .features = NAME },
	{ "os-release is not readable", { DIR_AT(ETC) }, "", .features = NAME },
};

static void scans(void **state)
{
	scan_check_row(&nfd_system_scanner, *state);
}

static void node_without_a_name(void **state)
{
	struct nfd_scan_options options = scan_options(0);
	const char *tree = tree_new();

	(void)state;
	options.node_name = NULL;
	assert_string_equal(scan_features(&nfd_system_scanner, tree_root(tree, false), &options),
			    "attributes system.name nodename=\n");
}

int main(void)
{
	struct unit_suite suite = { .name = "system" };

	UNIT_ROWS(&suite, scans, rows, name);
	UNIT_CASE(&suite, node_without_a_name);
	return unit_run(&suite);
}
