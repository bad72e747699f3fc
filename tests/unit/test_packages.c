// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor/packages: dpkg's database and apt's history.
 */
#include "config.h"

#include "doctor/packages.h"

#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define STATUS "var/lib/dpkg/status"
#define HISTORY "var/log/apt/history.log"

static const struct {
	const char *name;
	bool is_driver, is_coupled;
} name_rows[] = {
	{ "nvidia-driver-580", true, true },
	{ "nvidia-driver-580-open", true, true },
	{ "nvidia-driver", true, true },
	{ "nvidia-headless-no-dkms-580-server", true, true },
	{ "nvidia-utils-580", true, true },
	{ "nvidia-compute-utils-580", true, true },
	{ "libnvidia-compute-580", true, true },
	{ "libnvidia-compute", true, true },
	{ "libnvidia-ml1", true, true },
	{ "libnvidia-nscq", true, true },
	{ "libcuda1", true, true },
	{ "nvidia-kernel-common-580", true, true },
	{ "nvidia-dkms-580-open", true, true },
	{ "nvidia-open", true, true },
	{ "linux-modules-nvidia-580-server-open-6.8.0-48-generic", true, true },
	{ "linux-objects-nvidia-580-6.8.0-48-generic", true, true },
	{ "linux-signatures-nvidia-6.8.0-48-generic", true, true },
	{ "nvidia-firmware-580-580.126.09", true, true },
	{ "cuda-drivers", true, true },
	{ "cuda-drivers-580", true, true },
	{ "nvidia-fabricmanager-580", true, true },
	{ "nvidia-imex", true, true },
	{ "nvidia-persistenced", true, true },
	{ "xserver-xorg-video-nvidia-580", true, true },
	{ "kmod-nvidia-open-dkms", true, true },
	{ "nvidia-kmod-common", true, true },
	{ "libnvidia-container1", true, false },
	{ "libnvidia-container-tools", true, false },
	{ "nvidia-container-toolkit", true, false },
	{ "nvidia-container-toolkit-base", true, false },
	{ "datacenter-gpu-manager-4-core", true, false },
	{ "nvidia-driver-pinning-580", false, false },
	{ "nvidia-settings", false, false },
	{ "nvidia-modprobe", false, false },
	{ "cuda-toolkit-13-0", false, false },
	{ "xserver-xorg-video-nouveau", false, false },
	{ "linux-image-generic", false, false },
	{ "python3-nvidia-driver-580", false, false },
	{ "Nvidia-driver-580", false, false },
	{ "", false, false },
};

static void knows_the_set(void **state)
{
	const __typeof__(name_rows[0]) *row = *state;
	bool coupled = false;

	assert_int_equal(nfd_package_is_driver(row->name, &coupled), row->is_driver);
	assert_int_equal(coupled && row->is_driver, row->is_coupled);
	assert_int_equal(nfd_package_is_driver(row->name, NULL), row->is_driver);
}

static const char *packages_text(const struct nfd_packages *packages)
{
	const char *text = "";

	for (size_t i = 0; i < packages->count; i++)
		text = unit_text("%s%s %s%s%s\n", text, packages->package[i].name,
				 packages->package[i].version,
				 packages->package[i].is_held ? " held" : "",
				 packages->package[i].is_coupled ? "" : " tool");
	return text;
}

#define STANZA(name, status, version)                                                             \
	"Package: " name "\nStatus: " status "\nPriority: optional\nSection: non-free/libs\n"     \
	"Maintainer: x\nArchitecture: amd64\nMulti-Arch: same\nSource: nvidia-graphics-drivers\n" \
	"Version: " version "\nDepends: libc6 (>= 2.34)\nDescription: x\n long text\n .\n more\n"

static const struct {
	const char *name, *text, *packages;
} status_rows[] = {
	{ "empty", "", "" },
	{ "blank lines", "\n\n\n", "" },
	{ "one", STANZA("libnvidia-compute-580", "install ok installed", "580.126.09-0ubuntu1"),
	  "libnvidia-compute-580 580.126.09-0ubuntu1\n" },
	{ "order is kept",
	  STANZA("nvidia-utils-580", "install ok installed",
		 "2") "\n" STANZA("bash", "install ok installed",
				  "5") "\n" STANZA("libcuda1", "install ok installed", "1"),
	  "nvidia-utils-580 2\nlibcuda1 1\n" },
	{ "held", STANZA("nvidia-driver-580", "hold ok installed", "1"),
	  "nvidia-driver-580 1 held\n" },
	{ "container tool", STANZA("libnvidia-container1", "install ok installed", "1.18.0-1"),
	  "libnvidia-container1 1.18.0-1 tool\n" },
	{ "removed", STANZA("nvidia-driver-580", "deinstall ok config-files", "1"), "" },
	{ "half configured", STANZA("nvidia-driver-580", "install ok half-configured", "1"), "" },
	{ "unpacked", STANZA("nvidia-driver-580", "install ok unpacked", "1"), "" },
	{ "reinstall required", STANZA("nvidia-driver-580", "install reinstreq installed", "1"),
	  "" },
	{ "about to be removed", STANZA("nvidia-driver-580", "deinstall ok installed", "1"),
	  "nvidia-driver-580 1\n" },
	{ "i386",
	  "Package: libnvidia-compute-580\nStatus: install ok installed\nArchitecture: i386\nVersion: 1\n",
	  "" },
	{ "without architecture", "Package: libcuda1\nStatus: install ok installed\nVersion: 1",
	  "libcuda1 1\n" },
	{ "without version", "Package: libcuda1\nStatus: install ok installed\n", "" },
	{ "without status", "Package: libcuda1\nVersion: 1\n", "" },
	{ "without name", "Status: install ok installed\nVersion: 1\n", "" },
	{ "only a state", "Package: libcuda1\nStatus: installed\nVersion: 1\n", "" },
	{ "fields of a stanza do not reach the next",
	  "Package: libcuda1\nStatus: install ok installed\n\nVersion: 1\n", "" },
	{ "a continued line is no field",
	  "Package: libcuda1\nStatus: install ok installed\nVersion: 1\nDescription: x\n Version: 2\n"
	  " Status: deinstall ok config-files\n",
	  "libcuda1 1\n" },
	{ "other fields of like names",
	  "Package: libcuda1\nPackage-Type: deb\nStatus: install ok installed\nVersion: 1\n"
	  "Config-Version: 0\nVersions: 3\n",
	  "libcuda1 1\n" },
	{ "no blank behind the colon", "Package:libcuda1\nStatus:install ok installed\nVersion:1\n",
	  "libcuda1 1\n" },
	{ "hostile bytes",
	  "Package: libnvidia-\377\033\nStatus: install ok installed\nVersion: \001%s%n\n",
	  "libnvidia-\377\033 \001%s%n\n" },
	{ "no fields", ":\n::\nPackage\nPackage:\nVersion:\nStatus:\n", "" },
};

static void reads_status(void **state)
{
	const __typeof__(status_rows[0]) *row = *state;
	struct nfd_packages packages = { 0 };

	nfd_packages_parse(unit_text("%s", row->text), &packages);
	assert_string_equal(packages_text(&packages), row->packages);
}

static const struct {
	const char *name;
	struct tree_entry tree[3];
	bool is_read, is_rpm;
	int error;
} file_rows[] = {
	{ "none", { DIR_AT("var") }, false, false, 0 },
	{ "dpkg",
	  { FILE_AT(STATUS, STANZA("libcuda1", "install ok installed", "1")) },
	  true,
	  false,
	  0 },
	{ "empty", { FILE_AT(STATUS, "") }, true, false, 0 },
	{ "rpm", { FILE_AT("var/lib/rpm/rpmdb.sqlite", "SQLite") }, false, true, 0 },
	{ "rpm, older", { FILE_AT("var/lib/rpm/Packages", "x") }, false, true, 0 },
	{ "rpm, SUSE", { FILE_AT("usr/lib/sysimage/rpm/Packages.db", "x") }, false, true, 0 },
	{ "rpm, newer", { FILE_AT("usr/lib/sysimage/rpm/rpmdb.sqlite", "x") }, false, true, 0 },
	{ "both", { FILE_AT(STATUS, ""), FILE_AT("var/lib/rpm/Packages", "x") }, true, true, 0 },
	{ "folder", { DIR_AT(STATUS) }, false, false, -EISDIR },
	{ "loop", { LINK_AT(STATUS, "status") }, false, false, -ELOOP },
};

static void reads_file(void **state)
{
	const __typeof__(file_rows[0]) *row = *state;
	struct nfd_packages packages;
	const char *tree = tree_new();

	tree_fill(tree, row->tree);
	nfd_packages_read(tree_root(tree, false), &packages);
	assert_int_equal(packages.is_read, row->is_read);
	assert_int_equal(packages.is_rpm, row->is_rpm);
	assert_int_equal(packages.error, row->error);
}

static void is_bounded(void **state)
{
	struct nfd_packages packages = { 0 };
	struct nfd_strbuf buf = { 0 };

	(void)state;
	for (int i = 0; i < NFD_PACKAGES_MAX + 10; i++)
		nfd_strbuf_printf(&buf, STANZA("libnvidia-%d", "install ok installed", "1") "\n",
				  i);
	nfd_packages_parse(buf.data, &packages);
	nfd_strbuf_done(&buf);
	assert_int_equal(packages.count, NFD_PACKAGES_MAX);
	packages.count = 0;
	nfd_packages_parse(
		unit_text("Package: libnvidia-%s\nStatus: %s ok installed\nVersion: %s\n",
			  unit_repeat('n', 5000), unit_repeat('s', 5000), unit_repeat('v', 5000)),
		&packages);
	assert_int_equal(packages.count, 1);
	assert_int_equal(strlen(packages.package[0].name), sizeof(packages.package[0].name) - 1);
	assert_int_equal(strlen(packages.package[0].version),
			 sizeof(packages.package[0].version) - 1);
}

#define START(time) "Start-Date: " time "\n"
#define COMMAND "Commandline: /usr/bin/unattended-upgrade\n"
#define END "End-Date: 2026-02-03  06:12:00\n\n"
#define LIBRARY "libnvidia-compute-580:amd64 (580.126.09-0ubuntu1, 580.159.03-0ubuntu1)"

static const struct {
	const char *name, *text;
	const char *upgrade; /* "package before after when command"; NULL for none */
} history_rows[] = {
	{ "empty", "", NULL },
	{ "one", "\n" START("2026-02-03  06:11:12") COMMAND "Upgrade: " LIBRARY "\n" END,
	  "libnvidia-compute-580|580.126.09-0ubuntu1|580.159.03-0ubuntu1|2026-02-03  06:11:12|"
	  "/usr/bin/unattended-upgrade" },
	{ "missing newline", START("x") "Upgrade: " LIBRARY,
	  "libnvidia-compute-580|580.126.09-0ubuntu1|580.159.03-0ubuntu1|x|" },
	{ "among others",
	  START("x") "Upgrade: bash:amd64 (5.2-1, 5.2-2), " LIBRARY ", tzdata:all (1, 2)\n" END,
	  "libnvidia-compute-580|580.126.09-0ubuntu1|580.159.03-0ubuntu1|x|" },
	{ "the library before another of the set",
	  START("x") "Upgrade: nvidia-driver-580:amd64 (1, 2), libnvidia-compute-580:amd64 (3, 4)\n" END,
	  "libnvidia-compute-580|3|4|x|" },
	{ "another of the set where no library is",
	  START("x") "Upgrade: nvidia-utils-580:amd64 (1, 2), nvidia-driver-580:amd64 (3, 4)\n" END,
	  "nvidia-utils-580|1|2|x|" },
	{ "container tools do not count",
	  START("x") "Upgrade: libnvidia-container1:amd64 (1, 2), nvidia-container-toolkit:amd64 (1, 2)\n" END,
	  NULL },
	{ "other packages", START("x") "Upgrade: bash:amd64 (1, 2)\n" END, NULL },
	{ "installed anew is no upgrade",
	  START("x") "Install: libnvidia-compute-580:amd64 (1, automatic)\nRemove: libcuda1:amd64 (1)\n" END,
	  NULL },
	{ "the newest counts",
	  START("x") "Upgrade: libcuda1:amd64 (1, 2)\n" END START(
		  "y") "Upgrade: libcuda1:amd64 (2, 3)\n" END,
	  "libcuda1|2|3|y|" },
	{ "a newer one of others does not hide it",
	  START("x") COMMAND "Upgrade: libcuda1:amd64 (1, 2)\n" END START(
		  "y") "Commandline: apt upgrade\nUpgrade: bash:amd64 (2, 3)\n" END,
	  "libcuda1|1|2|x|/usr/bin/unattended-upgrade" },
	{ "an earlier command is not taken along",
	  START("x") COMMAND
	  "Install: a:amd64 (1)\n" END START("y") "Upgrade: libcuda1:amd64 (1, 2)\n" END,
	  "libcuda1|1|2|y|" },
	{ "no architecture", START("x") "Upgrade: libcuda1 (1, 2)\n", "libcuda1|1|2|x|" },
	{ "one version", START("x") "Upgrade: libcuda1:amd64 (1)\n", "libcuda1|1||x|" },
	{ "bracket not closed", START("x") "Upgrade: libcuda1:amd64 (1, 2\n", NULL },
	{ "cut in the second entry",
	  START("x") "Upgrade: libcuda1:amd64 (1, 2), libnvidia-a:amd64 (", "libcuda1|1|2|x|" },
	{ "no bracket", START("x") "Upgrade: libcuda1:amd64\n", NULL },
	{ "empty list", START("x") "Upgrade:\nUpgrade: \n", NULL },
	{ "brackets alone", START("x") "Upgrade: (), ), (\n", NULL },
	{ "without a start", "Upgrade: libcuda1:amd64 (1, 2)\n", "libcuda1|1|2||" },
	{ "hostile bytes", START("\377") "Upgrade: libnvidia-\001:amd64 (\033, %n)\n",
	  "libnvidia-\001|\033|%n|\377|" },
};

static const char *upgrade_text(const struct nfd_upgrade *upgrade)
{
	return unit_text("%s|%s|%s|%s|%s", upgrade->package, upgrade->before, upgrade->after,
			 upgrade->when, upgrade->command);
}

static void reads_history(void **state)
{
	const __typeof__(history_rows[0]) *row = *state;
	struct nfd_upgrade upgrade;
	bool found = nfd_packages_find_upgrade(unit_text("%s", row->text), &upgrade);

	assert_string_equal(upgrade_text(&upgrade), row->upgrade ? row->upgrade : "||||");
	assert_int_equal(found, row->upgrade != NULL);
}

static void reads_history_file(void **state)
{
	const char *tree = tree_new();
	struct nfd_upgrade upgrade;

	(void)state;
	assert_false(nfd_packages_upgrade(tree_root(tree, false), &upgrade));
	tree_file(tree, HISTORY, START("x") "Upgrade: " LIBRARY "\n");
	assert_true(nfd_packages_upgrade(tree_root(tree, false), &upgrade));
	assert_string_equal(upgrade.path, HISTORY);
	tree_file(
		tree, HISTORY,
		unit_text("Start-Date: %s\nCommandline: %s\nUpgrade: libnvidia-%s:amd64 (%s, %s)\n",
			  unit_repeat('t', 5000), unit_repeat('c', 5000), unit_repeat('n', 5000),
			  unit_repeat('1', 5000), unit_repeat('2', 5000)));
	assert_true(nfd_packages_upgrade(tree_root(tree, false), &upgrade));
	assert_int_equal(strlen(upgrade.after), sizeof(upgrade.after) - 1);
}

int main(void)
{
	struct unit_suite suite = { .name = "packages" };

	UNIT_ROWS(&suite, knows_the_set, name_rows, name);
	UNIT_ROWS(&suite, reads_status, status_rows, name);
	UNIT_ROWS(&suite, reads_file, file_rows, name);
	UNIT_CASE(&suite, is_bounded);
	UNIT_ROWS(&suite, reads_history, history_rows, name);
	UNIT_CASE(&suite, reads_history_file);
	return unit_run(&suite);
}
