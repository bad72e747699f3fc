// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/kernel_state: spec nfd.md 2.2 and 3.
 */
#include "config.h"

#include "scan/kernel_state.h"

#include "tests/unit/scan_text.h"
#include "tests/unit/unit.h"

#define OSRELEASE "proc/sys/kernel/osrelease"
#define ENFORCE "sys/fs/selinux/enforce"
#define NO_KVM "attributes kernel.kvm enabled=false\n"
#define RELEASE "attributes kernel.version full="

static const struct scan_row rows[] = {
	{ "nothing is there", { DIR_AT("sys") }, "", .features = NO_KVM },
	{ "release",
	  { FILE_AT(OSRELEASE, "6.8.0-48-generic\n") },
	  "",
	  .features = RELEASE "6.8.0-48-generic major=6 minor=8 revision=0\n" NO_KVM },
	{ "two numbers: the third is empty, as in NFD",
	  { FILE_AT(OSRELEASE, "6.8-x\n") },
	  "",
	  .features = RELEASE "6.8-x major=6 minor=8 revision=\n" NO_KVM },
	{ "one number",
	  { FILE_AT(OSRELEASE, "7\n") },
	  "",
	  .features = RELEASE "7 major=7 minor= revision=\n" NO_KVM },
	{ "four numbers are no version, as in NFD",
	  { FILE_AT(OSRELEASE, "5.15.167.4-microsoft-standard-WSL2\n") },
	  "",
	  .features = RELEASE "5.15.167.4-microsoft-standard-WSL2\n" NO_KVM },
	{ "other characters",
	  { FILE_AT(OSRELEASE, "6.1.0+deb12~1-\n") },
	  "",
	  .features = RELEASE "6.1.0_deb12_1\n" NO_KVM },
	{ "longer than a label value",
	  { FILE_AT(OSRELEASE,
		    "6.1.0-0123456789012345678901234567890123456789012345678901234567\n") },
	  "",
	  .features = RELEASE "6.1.0-0123456789012345678901234567890123456789012345678901234567 "
			      "major=6 minor=1 revision=0\n" NO_KVM },
	{ "SELinux enforces",
	  { FILE_AT(ENFORCE, "1") },
	  "kernel-selinux.enabled=true\n",
	  .features = "attributes kernel.selinux enabled=true\n" NO_KVM },
	{ "SELinux is permissive",
	  { FILE_AT(ENFORCE, "0") },
	  "",
	  .features = "attributes kernel.selinux enabled=false\n" NO_KVM },
	{ "SELinux says nothing",
	  { FILE_AT(ENFORCE, "") },
	  "",
	  .features = "attributes kernel.selinux enabled=false\n" NO_KVM },
	{ "no SELinux",
	  { DIR_AT("sys/fs/cgroup") },
	  "",
	  .features = "attributes kernel.selinux enabled=false\n" NO_KVM },
	{ "SELinux is not readable",
	  { DIR_AT(ENFORCE) },
	  "unknown kernel-selinux.enabled\n",
	  .features = NO_KVM },
	{ "sys/fs cannot be told",
	  { LINK_AT("sys/fs", "fs") },
	  "unknown kernel-selinux.enabled\n",
	  .features = NO_KVM },
	{ "KVM",
	  { DIR_AT("sys/devices/virtual/misc/kvm") },
	  "",
	  .features = "attributes kernel.kvm enabled=true\n" },
	{ "KVM cannot be told",
	  { LINK_AT("sys/devices/virtual/misc/kvm", "kvm") },
	  "",
	  .features = "" },
};

static void scans(void **state)
{
	scan_check_row(&nfd_kernel_state_scanner, *state);
}

int main(void)
{
	struct unit_suite suite = { .name = "kernel_state" };

	UNIT_ROWS(&suite, scans, rows, name);
	return unit_run(&suite);
}
