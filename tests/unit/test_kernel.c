// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/kernel: the release (field case D3; spec nfd.md 2.2).
 */
#include "config.h"

#include "scan/kernel.h"

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define OSRELEASE "proc/sys/kernel/osrelease"
#define K "kernel-version."

static const struct scan_row rows[] = {
	{ "D3 plus",
	  { FILE_AT(OSRELEASE, "4.9.140-l4t-r32.3.1+g47e7e1cb0b49\n") },
	  K "full=4.9.140-l4t-r32.3.1_g47e7e1cb0b49\n" K "major=4\n" K "minor=9\n" K
	    "revision=140\n" },
	{ "D3 tilde",
	  { FILE_AT(OSRELEASE, "6.1.0~rc4-amd64\n") },
	  K "full=6.1.0_rc4-amd64\n" K "major=6\n" K "minor=1\n" K "revision=0\n" },
	{ "D3 four parts",
	  { FILE_AT(OSRELEASE, "5.15.167.4-microsoft-standard-WSL2\n") },
	  K "full=5.15.167.4-microsoft-standard-WSL2\n" K "major=5\n" K "minor=15\n" K
	    "revision=167\n" },
	{ "no newline",
	  { FILE_AT(OSRELEASE, "6.8.0-48-generic") },
	  K "full=6.8.0-48-generic\n" K "major=6\n" K "minor=8\n" K "revision=0\n" },
	{ "empty revision, as in NFD",
	  { FILE_AT(OSRELEASE, "6.8-x\n") },
	  K "full=6.8-x\n" K "major=6\n" K "minor=8\n" K "revision=\n" },
	{ "empty minor and revision, as in NFD",
	  { FILE_AT(OSRELEASE, "6\n") },
	  K "full=6\n" K "major=6\n" K "minor=\n" K "revision=\n" },
	{ "two parts and a rest",
	  { FILE_AT(OSRELEASE, "6.8_x\n") },
	  K "full=6.8_x\n" K "major=6\n" K "minor=8\n" },
	{ "no number", { FILE_AT(OSRELEASE, "custom\n") }, K "full=custom\n" },
	{ "empty", { FILE_AT(OSRELEASE, "\n") }, "" },
	{ "missing", { DIR_AT("proc") }, "" },
	{ "unreadable", { DIR_AT(OSRELEASE) }, "unknown kernel-version.\n" },
	{ "loop", { LINK_AT(OSRELEASE, "osrelease") }, "unknown kernel-version.\n" },
	{ "not UTF-8",
	  { FILE_AT(OSRELEASE, "6.1.0-\xff"
			       "x\n") },
	  K "full=6.1.0-_x\n" K "major=6\n" K "minor=1\n" K "revision=0\n" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_kernel_scanner, *state);
}

int main(void)
{
	struct unit_suite suite = { .name = "kernel" };

	UNIT_ROWS(&suite, scans, rows, name);
	return unit_run(&suite);
}
