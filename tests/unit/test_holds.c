// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor/holds: which rule of which package manager holds which package, and what upgrades by itself.
 */
#include "config.h"

#include "doctor/holds.h"

#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define PREFERENCES "etc/apt/preferences"
#define APT_CONF "etc/apt/apt.conf.d/"
#define LOCKS "etc/dnf/plugins/versionlock.list"
#define DNF5 "etc/dnf/versionlock.toml"
#define TIMERS "etc/systemd/system/timers.target.wants/"
#define AUTO FILE_AT(APT_CONF "20auto-upgrades", "APT::Periodic::Unattended-Upgrade \"1\";\n")

static const struct {
	const char *name;
	struct tree_entry tree[6];
	const char *held, *free; /* packages, by blanks */
} rows[] = {
	{ "nothing", { DIR_AT("etc") }, "", "libnvidia-compute-580 nvidia-driver" },

	{ "preferences: version pin",
	  { FILE_AT(PREFERENCES,
		    "Package: *nvidia*\nPin: version 580.126.*\nPin-Priority: 1001\n") },
	  "libnvidia-compute-580 nvidia-driver-580",
	  "linux-image-generic" },
	{ "preferences: list of packages",
	  { FILE_AT(PREFERENCES, "Explanation: x\nPackage: nvidia-driver-580 libnvidia-*-580\n"
				 "Pin: version 580.126.*\nPin-Priority: 600\n") },
	  "nvidia-driver-580 libnvidia-compute-580",
	  "nvidia-driver-590 libnvidia-compute" },
	{ "preferences: regular expression",
	  { FILE_AT(PREFERENCES,
		    "Package: /^(lib)?nvidia-.*580$/\nPin: version 580*\nPin-Priority: 900\n") },
	  "nvidia-driver-580 libnvidia-compute-580",
	  "nvidia-driver-590 xserver-xorg-video-nvidia-580" },
	{ "preferences: priority 500 keeps nothing",
	  { FILE_AT(PREFERENCES, "Package: *\nPin: version 580.*\nPin-Priority: 500\n") },
	  "",
	  "nvidia-driver-580" },
	{ "preferences: priority 501 does",
	  { FILE_AT(PREFERENCES, "Package: *\nPin: version 580.*\nPin-Priority: 501") },
	  "nvidia-driver-580",
	  "" },
	{ "preferences: a release with a high priority keeps nothing",
	  { FILE_AT(PREFERENCES, "Package: *\nPin: release o=NVIDIA\nPin-Priority: 600\n") },
	  "",
	  "nvidia-driver-580" },
	{ "preferences: never from anywhere",
	  { FILE_AT(PREFERENCES, "Package: nvidia-*\nPin: release *\nPin-Priority: -1\n") },
	  "nvidia-driver-580",
	  "libnvidia-compute-580" },
	{ "preferences: not from one release, which holds nothing",
	  { FILE_AT(PREFERENCES, "Package: *\nPin: release a=experimental\nPin-Priority: -1\n") },
	  "",
	  "nvidia-driver-580 libnvidia-compute-580" },
	{ "preferences: not from one origin, which holds nothing",
	  { FILE_AT(PREFERENCES, "Package: *\nPin: origin repo.example.com\nPin-Priority: -10\n") },
	  "",
	  "nvidia-driver-580" },
	{ "preferences: not one version, which holds nothing",
	  { FILE_AT(PREFERENCES, "Package: nvidia-*\nPin: version 570.*\nPin-Priority: -1\n") },
	  "",
	  "nvidia-driver-580" },
	{ "preferences: fields in another order",
	  { FILE_AT(PREFERENCES, "Pin-Priority: 1001\nPin: version 580.*\nPackage: nvidia-*\n") },
	  "nvidia-driver-580",
	  "" },
	{ "preferences: several stanzas",
	  { FILE_AT(PREFERENCES, "Package: a\nPin: version 1\nPin-Priority: 1001\n\n"
				 "Package: b\nPin-Priority: 1001\n\n\n"
				 "Package: c\nPin: version 1\nPin-Priority: 1001\n") },
	  "a c",
	  "b" },
	{ "preferences: huge number",
	  { FILE_AT(PREFERENCES,
		    "Package: a\nPin: version 1\nPin-Priority: 99999999999999999999999\n") },
	  "a",
	  "b" },
	{ "preferences: no number",
	  { FILE_AT(PREFERENCES, "Package: a\nPin: version 1\nPin-Priority: high\n") },
	  "",
	  "a" },
	{ "preferences: which files",
	  { FILE_AT(PREFERENCES ".d/a.pref", "Package: a\nPin: version 1\nPin-Priority: 1001\n"),
	    FILE_AT(PREFERENCES ".d/b", "Package: b\nPin: version 1\nPin-Priority: 1001\n"),
	    FILE_AT(PREFERENCES ".d/c.bak", "Package: c\nPin: version 1\nPin-Priority: 1001\n"),
	    FILE_AT(PREFERENCES ".d/.d", "Package: d\nPin: version 1\nPin-Priority: 1001\n") },
	  "a b",
	  "c d" },
	{ "preferences: a dot inside a .pref name",
	  { FILE_AT(PREFERENCES ".d/nvidia-580.126.09.pref",
		    "Package: a\nPin: version 1\nPin-Priority: 1001\n") },
	  "a",
	  "b" },
	{ "preferences: hostile bytes",
	  { FILE_AT(PREFERENCES, "Package: [ \\ /( // \377\nPin: version \nPin-Priority: -1\n") },
	  "",
	  "a nvidia-driver-580" },

	{ "blacklist: at the start only",
	  { FILE_AT(APT_CONF "50", "Unattended-Upgrade::Package-Blacklist { \"nvidia-\"; };") },
	  "nvidia-driver-580",
	  "libnvidia-compute-580 xserver-xorg-video-nvidia-580" },
	{ "blacklist: end of name",
	  { FILE_AT(APT_CONF "50",
		    "Unattended-Upgrade::Package-Blacklist { \"nvidia-driver$\"; };") },
	  "nvidia-driver",
	  "nvidia-driver-580" },
	{ "blacklist: a glob is an expression",
	  { FILE_AT(APT_CONF "50", "Unattended-Upgrade::Package-Blacklist { \"nvidia-*\"; };") },
	  "nvidia-driver-580 nvidia",
	  "libnvidia-compute-580" },
	{ "blacklist: every alternative at the start",
	  { FILE_AT(APT_CONF "50",
		    "Unattended-Upgrade::Package-Blacklist { \"linux-|nvidia-\"; };") },
	  "linux-image nvidia-driver",
	  "libnvidia-compute xserver-xorg-video-nvidia-580" },
	{ "blacklist: broken expression",
	  { FILE_AT(APT_CONF "50", "Unattended-Upgrade::Package-Blacklist { \"(\"; \"[a\"; };") },
	  "",
	  "nvidia-driver-580 a" },

	{ "versionlock",
	  { FILE_AT(LOCKS, "# comment\n\n nvidia-driver-3:580.126.09-1.el9.*\n"
			   "kmod-nvidia-open-dkms-3:580.126.09-1.el9.noarch\n") },
	  "nvidia-driver kmod-nvidia-open-dkms",
	  "nvidia-driver-libs kmod-nvidia comment" },
	{ "versionlock: exclusion",
	  { FILE_AT(LOCKS, "!nvidia-driver-3:590.*-*") },
	  "nvidia-driver",
	  "" },
	{ "versionlock of yum",
	  { FILE_AT("etc/yum/pluginconf.d/versionlock.list", "0:nvidia-driver-580-1.*\n") },
	  "",
	  "kmod-nvidia" },
	{ "versionlock: the plugin is off",
	  { FILE_AT(LOCKS, "nvidia-driver-3:580.126.09-1.el9.*\n"),
	    FILE_AT("etc/dnf/plugins/versionlock.conf", "[main]\nenabled = 0\n") },
	  "",
	  "nvidia-driver" },
	{ "versionlock: dashes alone", { FILE_AT(LOCKS, "-\n--\n!\n!-\n") }, "", "nvidia-driver" },

	{ "dnf 5",
	  { FILE_AT(DNF5,
		    "version = \"1.0\"\n\n[[packages]]\nname = \"nvidia-driver\"\n"
		    "comment = \"Added by 'versionlock add' command 2026-02-03 10:00:00\"\n"
		    "[[packages.conditions]]\nkey = \"evr\"\ncomparator = \"=\"\n"
		    "value = \"3:580.126.09-1.fc42\"\n\n[[packages]]\nname = 'kmod-nvidia*'\n") },
	  "nvidia-driver kmod-nvidia-open",
	  "nvidia-driver-libs" },
	{ "dnf 5: empty", { FILE_AT(DNF5, "") }, "", "nvidia-driver" },
	{ "dnf 5: other shapes",
	  { FILE_AT(DNF5, "packages = [ 1, \"nvidia-driver\", { name = 5 }, {} ]") },
	  "",
	  "nvidia-driver" },
	{ "dnf 5: broken",
	  { FILE_AT(DNF5, "[[packages]\nname = \"nvidia-driver\"") },
	  "",
	  "nvidia-driver" },

	{ "excludepkgs",
	  { FILE_AT("etc/dnf/dnf.conf",
		    "[main]\ngpgcheck=1\nexcludepkgs = nvidia-driver*,kmod-nvidia* "
		    "libnvidia-ml\n") },
	  "nvidia-driver kmod-nvidia-open libnvidia-ml",
	  "libnvidia-cfg gpgcheck" },
	{ "exclude of yum",
	  { FILE_AT("etc/yum.conf", "exclude=nvidia*") },
	  "nvidia-driver",
	  "kmod-nvidia" },
	{ "excludepkgs on further lines",
	  { FILE_AT("etc/dnf/dnf.conf",
		    "[main]\nexcludepkgs=nvidia-driver*\n    kmod-nvidia*\nbest=0\n") },
	  "nvidia-driver kmod-nvidia-open",
	  "best" },
	{ "exclude of a repository",
	  { FILE_AT("etc/yum.repos.d/cuda.repo", "[cuda]\nenabled=1\nexclude=nvidia*\n") },
	  "nvidia-driver",
	  "" },
	{ "exclude of a file that is no repository",
	  { FILE_AT("etc/yum.repos.d/cuda.repo.rpmsave", "[cuda]\nexclude=nvidia*\n") },
	  "",
	  "nvidia-driver" },
	{ "other keys",
	  { FILE_AT("etc/dnf/dnf.conf",
		    "excludes=a\nexclude_x=b\n#exclude=c\n;exclude=d\nxexclude=e\n"
		    "exclude\nexclude=\nexcludepkgs=,, ,\n") },
	  "",
	  "a b c d e" },

	{ "zypper: default is a part",
	  { FILE_AT("etc/zypp/locks",
		    "\ntype: package\ncase_sensitive: on\nsolvable_name: nvidia\n") },
	  "nvidia-driver libnvidia-ml",
	  "kernel-default" },
	{ "zypper: kinds",
	  { FILE_AT("etc/zypp/locks", "type: package\nmatch_type: glob\nsolvable_name: nvidia-*\n\n"
				      "match_type: exact\nsolvable_name: kmod-x\n\n"
				      "match_type: regex\nsolvable_name: ^gfx.*g0[56]$\n\n"
				      "solvable_name: part\n") },
	  "nvidia-driver kmod-x gfxdriver-g06 a-part-b",
	  "libnvidia-ml kmod-x2 gfxdriver-g07" },
	{ "zypper: missing newline, no blank",
	  { FILE_AT("etc/zypp/locks", "solvable_name:nvidia") },
	  "nvidia-a",
	  "" },
};

static void check_held(const struct nfd_holds *holds, const char *names, bool held)
{
	char *rest = unit_text("%s", names), *name;

	while ((name = strsep(&rest, " ")) != NULL) {
		const struct nfd_hold_rule *rule = *name ? nfd_holds_find(holds, name) : NULL;

		if (*name && (rule != NULL) != held) {
			print_error("%s: %s \"%s\" of %s\n", name,
				    held ? "not held, last rule" : "held by",
				    rule ? rule->pattern : "-", rule ? rule->path : "-");
			fail();
		}
		if (rule)
			assert_true(rule->path[0]);
	}
}

static void holds_packages(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	struct nfd_holds holds;
	const char *tree = tree_new();

	tree_fill(tree, row->tree);
	assert_int_equal(nfd_holds_read(tree_root(tree, false), &holds), 0);
	assert_int_equal(holds.error, 0);
	check_held(&holds, row->held, true);
	check_held(&holds, row->free, false);
}

static const struct {
	const char *name;
	struct tree_entry tree[4];
	bool is_automatic;
	const char *path, *value, *origins; /* parts; NULL: not looked at */
} automatic_rows[] = {
	{ "nothing", { DIR_AT("etc") }, false, NULL, NULL, NULL },
	{ "apt", { AUTO }, true, "etc/apt/apt.conf.d", "\"1\"", "" },
	{ "apt: days",
	  { FILE_AT(APT_CONF "a", "APT::Periodic { Unattended-Upgrade \"7\"; };") },
	  true,
	  NULL,
	  "\"7\"",
	  NULL },
	{ "apt: 0",
	  { FILE_AT(APT_CONF "a", "APT::Periodic::Unattended-Upgrade \"0\";") },
	  false,
	  NULL,
	  NULL,
	  NULL },
	{ "apt: a later file decides",
	  { AUTO, FILE_AT(APT_CONF "99", "APT::Periodic::Unattended-Upgrade \"0\";") },
	  false,
	  NULL,
	  NULL,
	  NULL },
	{ "apt: periodic work is off",
	  { AUTO, FILE_AT(APT_CONF "10periodic", "APT::Periodic::Enable \"0\";") },
	  false,
	  NULL,
	  NULL,
	  NULL },
	{ "apt: timer masked",
	  { AUTO, LINK_AT("etc/systemd/system/apt-daily-upgrade.timer", "/dev/null") },
	  false,
	  NULL,
	  NULL,
	  NULL },
	{ "apt: timer changed, not masked",
	  { AUTO, LINK_AT("etc/systemd/system/apt-daily-upgrade.timer", "/opt/x.timer") },
	  true,
	  NULL,
	  NULL,
	  NULL },
	{ "apt: origins",
	  { AUTO, FILE_AT(APT_CONF "50unattended-upgrades",
			  "Unattended-Upgrade::Allowed-Origins { \"a:b\"; \"a:b-security\"; };\n"
			  "Unattended-Upgrade::Origins-Pattern { \"origin=Debian\"; };\n") },
	  true,
	  NULL,
	  NULL,
	  "a:b, a:b-security, origin=Debian" },
	{ "dnf: timer without apply",
	  { LINK_AT(TIMERS "dnf-automatic.timer", "/x"),
	    FILE_AT("etc/dnf/automatic.conf", "[commands]\napply_updates = no\n") },
	  false,
	  NULL,
	  NULL,
	  NULL },
	{ "dnf: apply without timer",
	  { FILE_AT("etc/dnf/automatic.conf", "[commands]\napply_updates = yes\n") },
	  false,
	  NULL,
	  NULL,
	  NULL },
	{ "dnf: timer and apply",
	  { LINK_AT(TIMERS "dnf-automatic.timer", "/x"),
	    FILE_AT("etc/dnf/automatic.conf", "[commands]\napply_updates = yes\n") },
	  true,
	  TIMERS "dnf-automatic.timer",
	  "apply_updates",
	  NULL },
	{ "dnf: the timer that installs",
	  { LINK_AT(TIMERS "dnf-automatic-install.timer", "/x") },
	  true,
	  TIMERS "dnf-automatic-install.timer",
	  "installs",
	  NULL },
	{ "dnf: a timer that only tells",
	  { LINK_AT(TIMERS "dnf-automatic-notifyonly.timer", "/x"),
	    FILE_AT("etc/dnf/automatic.conf", "apply_updates = yes\n") },
	  false,
	  NULL,
	  NULL,
	  NULL },
	{ "dnf 5: timer and apply",
	  { LINK_AT(TIMERS "dnf5-automatic.timer", "/x"),
	    FILE_AT("etc/dnf/automatic.conf", "[commands]\napply_updates = yes\n") },
	  true,
	  NULL,
	  NULL,
	  NULL },
	{ "zypper",
	  { LINK_AT(TIMERS "transactional-update.timer", "/x") },
	  true,
	  TIMERS "tr",
	  "enabled",
	  NULL },
};

static void finds_upgraders(void **state)
{
	const __typeof__(automatic_rows[0]) *row = *state;
	struct nfd_holds holds;
	const char *tree = tree_new();

	tree_fill(tree, row->tree);
	assert_int_equal(nfd_holds_read(tree_root(tree, false), &holds), 0);
	assert_int_equal(holds.is_automatic, row->is_automatic);
	if (row->path)
		unit_assert_contains(holds.automatic, row->path);
	if (row->value)
		unit_assert_contains(holds.automatic_value, row->value);
	if (row->origins)
		assert_string_equal(holds.origins, row->origins);
}

static const struct {
	const char *name;
	struct tree_entry entry;
	int error;
	const char *path;
} error_rows[] = {
	{ "preferences", LINK_AT(PREFERENCES, "preferences"), -ELOOP, PREFERENCES },
	{ "versionlock", DIR_AT(LOCKS), -EISDIR, LOCKS },
	{ "dnf 5", DIR_AT(DNF5), -EISDIR, DNF5 },
	{ "zypper", DIR_AT("etc/zypp/locks"), -EISDIR, "etc/zypp/locks" },
	{ "apt.conf", DIR_AT("etc/apt/apt.conf"), -EISDIR, "" },
};

static void notes_what_cannot_be_read(void **state)
{
	const __typeof__(error_rows[0]) *row = *state;
	const struct tree_entry entry[] = { row->entry, { 0 } };
	struct nfd_holds holds;
	const char *tree = tree_new();

	tree_fill(tree, entry);
	assert_int_equal(nfd_holds_read(tree_root(tree, false), &holds), 0);
	assert_int_equal(holds.error, row->error);
	assert_string_equal(holds.error_path, row->path);
}

static void only_automatic_upgrades_respect_a_blacklist(void **state)
{
	const struct tree_entry entry[] = {
		FILE_AT(APT_CONF "50", "Unattended-Upgrade::Package-Blacklist { \"a\"; };"),
		FILE_AT(PREFERENCES, "Package: b\nPin: version 1\nPin-Priority: 1001\n"),
		{ 0 },
	};
	const char *tree = tree_new();
	struct nfd_holds holds;

	(void)state;
	tree_fill(tree, entry);
	assert_int_equal(nfd_holds_read(tree_root(tree, false), &holds), 0);
	assert_true(nfd_holds_find(&holds, "a")->automatic_only);
	assert_false(nfd_holds_find(&holds, "b")->automatic_only);
	assert_string_equal(nfd_holds_find(&holds, "b")->path, PREFERENCES);
}

static void is_bounded(void **state)
{
	const char *tree = tree_new();
	struct nfd_strbuf buf = { 0 };
	struct nfd_holds holds;

	(void)state;
	for (int i = 0; i < NFD_HOLD_RULES_MAX + 20; i++)
		nfd_strbuf_printf(&buf, "p%d-1-1\n", i);
	tree_file(tree, LOCKS, nfd_strbuf_text(&buf));
	nfd_strbuf_done(&buf);
	assert_int_equal(nfd_holds_read(tree_root(tree, false), &holds), 0);
	assert_int_equal(holds.count, NFD_HOLD_RULES_MAX);
	check_held(&holds, "p0 p63", true);
	tree_file(tree, LOCKS, unit_text("%s-1-1\n", unit_repeat('x', 5000)));
	tree_file(tree, PREFERENCES,
		  unit_text("Package: %s\nPin: version 1\nPin-Priority: 1001\n",
			    unit_repeat('y', 5000)));
	for (int i = 0; i < 50; i++)
		nfd_strbuf_printf(&buf, "Unattended-Upgrade::Allowed-Origins:: \"%s\";\n",
				  unit_repeat('o', 100));
	nfd_strbuf_puts(&buf, "APT::Periodic::Unattended-Upgrade \"1\";\n");
	tree_file(tree, APT_CONF "50", nfd_strbuf_text(&buf));
	nfd_strbuf_done(&buf);
	assert_int_equal(nfd_holds_read(tree_root(tree, false), &holds), 0);
	assert_int_equal(strlen(holds.origins), sizeof(holds.origins) - 1);
}

int main(void)
{
	struct unit_suite suite = { .name = "holds" };

	UNIT_ROWS(&suite, holds_packages, rows, name);
	UNIT_ROWS(&suite, finds_upgraders, automatic_rows, name);
	UNIT_ROWS(&suite, notes_what_cannot_be_read, error_rows, name);
	UNIT_CASE(&suite, only_automatic_upgrades_respect_a_blacklist);
	UNIT_CASE(&suite, is_bounded);
	return unit_run(&suite);
}
