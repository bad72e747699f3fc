// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * doctor/runtime_config: the effective configuration of containerd in its three forms, CRI-O, Docker.
 */
#include "config.h"

#include "doctor/runtime_config.h"

#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define MAIN "etc/containerd/config.toml"
#define DROP_IN "etc/containerd/conf.d/99-nvidia.toml"
#define V1 "plugins.cri"
#define V2 "plugins.\"io.containerd.grpc.v1.cri\""
#define V3 "plugins.'io.containerd.cri.v1.runtime'"
#define IMPORTS "imports = [\"/etc/containerd/conf.d/*.toml\"]\n"
#define RUNTIME(plugin, binary)                        \
	"[" plugin ".containerd.runtimes.nvidia]\n"    \
	"  runtime_type = \"io.containerd.runc.v2\"\n" \
	"  [" plugin ".containerd.runtimes.nvidia.options]\n    BinaryName = \"" binary "\"\n"
#define TYPE "io.containerd.runc.v2"
#define BINARY "/usr/bin/nvidia-container-runtime"

/* All that was read, as one text. */
static const char *config_text(const struct nfd_runtime_config *config)
{
	const char *text = unit_text("v%d", config->version);

	if (config->nvidia.is_there)
		text = unit_text("%s nvidia=%s,%s@%s", text, config->nvidia.type,
				 config->nvidia.binary, config->nvidia.path);
	if (config->default_runtime[0])
		text = unit_text("%s default=%s", text, config->default_runtime);
	text = unit_text("%s cdi=%s%s", text, config->is_cdi_on ? "on" : "off",
			 config->is_cdi_set ? "!" : "");
	if (config->misplaced[0])
		text = unit_text("%s misplaced=%s", text, config->misplaced);
	if (config->drop_in_newer[0])
		text = unit_text("%s newer=%d:%s", text, config->drop_in_version,
				 config->drop_in_newer);
	for (size_t i = 0; i < config->imported_count; i++)
		text = unit_text("%s +%s", text, config->imported[i]);
	return config->error[0] ? unit_text("%s ERROR", text) : text;
}

static const struct {
	const char *name;
	struct tree_entry tree[5];
	const char *path, *text;
} containerd_rows[] = {
	{ "no file", { DIR_AT("etc") }, "", "v0 cdi=off" },
	{ "empty file", { FILE_AT(MAIN, "") }, MAIN, "v1 cdi=off" },
	{ "version 1 without runtime", { FILE_AT(MAIN, "version = 1\n") }, MAIN, "v1 cdi=off" },
	{ "version 1",
	  { FILE_AT(MAIN, "version = 1\n" RUNTIME(V1, BINARY)) },
	  MAIN,
	  "v1 nvidia=" TYPE "," BINARY "@" MAIN " cdi=off" },
	{ "no version is version 1",
	  { FILE_AT(MAIN, RUNTIME(V1, BINARY)) },
	  MAIN,
	  "v1 nvidia=" TYPE "," BINARY "@" MAIN " cdi=off" },
	{ "version 2",
	  { FILE_AT(MAIN,
		    "version = 2\n[" V2
		    ".containerd]\ndefault_runtime_name = \"nvidia\"\n" RUNTIME(V2, BINARY)) },
	  MAIN,
	  "v2 nvidia=" TYPE "," BINARY "@" MAIN " default=nvidia cdi=off" },
	{ "version 3",
	  { FILE_AT(MAIN, "version = 3\n" RUNTIME(V3, BINARY)) },
	  MAIN,
	  "v3 nvidia=" TYPE "," BINARY "@" MAIN " cdi=on" },
	{ "version 4 as 3",
	  { FILE_AT(MAIN, "version = 4\n" RUNTIME(V3, BINARY)) },
	  MAIN,
	  "v4 nvidia=" TYPE "," BINARY "@" MAIN " cdi=on" },
	{ "CDI switched on",
	  { FILE_AT(MAIN, "version = 2\n[" V2 "]\nenable_cdi = true\n") },
	  MAIN,
	  "v2 cdi=on!" },
	{ "CDI switched off",
	  { FILE_AT(MAIN, "version = 3\n[" V3 "]\nenable_cdi = false\n") },
	  MAIN,
	  "v3 cdi=off!" },
	{ "no type, no options",
	  { FILE_AT(MAIN, "version = 2\n[" V2 ".containerd.runtimes.nvidia]\n") },
	  MAIN,
	  "v2 nvidia=,@" MAIN " cdi=off" },
	{ "under the name of version 1",
	  { FILE_AT(MAIN, "version = 2\n" RUNTIME(V1, BINARY)) },
	  MAIN,
	  "v2 cdi=off misplaced=" MAIN },
	{ "under the name of version 2 without a version",
	  { FILE_AT(MAIN, RUNTIME(V2, BINARY)) },
	  MAIN,
	  "v1 cdi=off misplaced=" MAIN },
	{ "under the name of version 3",
	  { FILE_AT(MAIN, "version = 2\n" RUNTIME(V3, BINARY)) },
	  MAIN,
	  "v2 cdi=off misplaced=" MAIN },

	{ "drop-in, version 3",
	  { FILE_AT(MAIN, "version = 3\n" IMPORTS),
	    FILE_AT(DROP_IN, "version = 3\n" RUNTIME(V3, BINARY)) },
	  MAIN,
	  "v3 nvidia=" TYPE "," BINARY "@" DROP_IN " cdi=on +" DROP_IN },
	{ "drop-in, version 2",
	  { FILE_AT(MAIN, IMPORTS "version = 2\n"),
	    FILE_AT(DROP_IN, "version = 2\n" RUNTIME(V2, BINARY)) },
	  MAIN,
	  "v2 nvidia=" TYPE "," BINARY "@" DROP_IN " cdi=off +" DROP_IN },
	{ "no import",
	  { FILE_AT(MAIN, "version = 3\n"), FILE_AT(DROP_IN, "version = 3\n") },
	  MAIN,
	  "v3 cdi=on" },
	{ "drop-in replaces the section of version 2",
	  { FILE_AT(MAIN, "version = 2\n" IMPORTS RUNTIME(V2, BINARY)),
	    FILE_AT(DROP_IN, "version = 2\n[" V2 ".containerd]\nsnapshotter = \"x\"\n") },
	  MAIN,
	  "v2 cdi=off +" DROP_IN },
	{ "drop-in is merged in version 3",
	  { FILE_AT(MAIN, "version = 3\n" IMPORTS RUNTIME(V3, BINARY)),
	    FILE_AT(DROP_IN,
		    "version = 3\n[" V3 ".containerd]\ndefault_runtime_name = \"nvidia\"\n") },
	  MAIN,
	  "v3 nvidia=" TYPE "," BINARY "@" MAIN " default=nvidia cdi=on +" DROP_IN },
	{ "drop-in newer than the main file",
	  { FILE_AT(MAIN, "version = 2\n" IMPORTS),
	    FILE_AT(DROP_IN, "version = 3\n" RUNTIME(V3, BINARY)) },
	  MAIN,
	  "v2 nvidia=" TYPE "," BINARY "@" DROP_IN " cdi=off newer=3:" DROP_IN " +" DROP_IN },
	{ "drop-in older than the main file",
	  { FILE_AT(MAIN, "version = 3\n" IMPORTS),
	    FILE_AT(DROP_IN, "version = 2\n" RUNTIME(V2, BINARY)) },
	  MAIN,
	  "v3 nvidia=" TYPE "," BINARY "@" DROP_IN " cdi=on +" DROP_IN },
	{ "name order, the last counts",
	  { FILE_AT(MAIN, "version = 3\n" IMPORTS),
	    FILE_AT("etc/containerd/conf.d/20.toml", "version = 3\n" RUNTIME(V3, "/b")),
	    FILE_AT("etc/containerd/conf.d/10.toml", "version = 3\n" RUNTIME(V3, "/a")) },
	  MAIN,
	  "v3 nvidia=" TYPE
	  ",/b@etc/containerd/conf.d/20.toml cdi=on +etc/containerd/conf.d/10.toml "
	  "+etc/containerd/conf.d/20.toml" },
	{ "only names that fit, and hidden ones, as containerd's",
	  { FILE_AT(MAIN, "version = 3\n" IMPORTS),
	    FILE_AT("etc/containerd/conf.d/a.toml.bak", "version = 3\n"),
	    FILE_AT("etc/containerd/conf.d/.a.toml", "version = 3\n") },
	  MAIN,
	  "v3 cdi=on +etc/containerd/conf.d/.a.toml" },
	{ "import of one file",
	  { FILE_AT(MAIN, "version = 3\nimports = [\"/opt/n.toml\"]\n"),
	    FILE_AT("opt/n.toml", "version = 3\n" RUNTIME(V3, "/a")) },
	  MAIN,
	  "v3 nvidia=" TYPE ",/a@opt/n.toml cdi=on +opt/n.toml" },
	{ "import from the main file's folder",
	  { FILE_AT(MAIN, "version = 3\nimports = [\"conf.d/*.toml\"]\n"),
	    FILE_AT(DROP_IN, "version = 3\n" RUNTIME(V3, "/a")) },
	  MAIN,
	  "v3 nvidia=" TYPE ",/a@" DROP_IN " cdi=on +" DROP_IN },
	{ "import that leaves the root",
	  { FILE_AT(
		  MAIN,
		  "version = 3\nimports = [\"/../../../../etc/shad*\", \"../../../../../etc/pas*\"]\n") },
	  MAIN,
	  "v3 cdi=on" },
	{ "imports of other kinds",
	  { FILE_AT(MAIN, "version = 3\nimports = [1, \"\", \"/\", \"x\", [\"/y\"], true]\n") },
	  MAIN,
	  "v3 cdi=on" },
	{ "imports is no array",
	  { FILE_AT(MAIN, "version = 3\nimports = \"/etc/containerd/conf.d/*\"\n") },
	  MAIN,
	  "v3 cdi=on" },
	{ "broken main file", { FILE_AT(MAIN, "version = \n") }, MAIN, "v0 cdi=off ERROR" },
	{ "broken drop-in",
	  { FILE_AT(MAIN, "version = 3\n" IMPORTS), FILE_AT(DROP_IN, "[x\n") },
	  MAIN,
	  "v3 cdi=on +" DROP_IN " ERROR" },
	{ "main file is a folder", { DIR_AT(MAIN) }, MAIN, "v0 cdi=off ERROR" },
	{ "main file is a loop", { LINK_AT(MAIN, "config.toml") }, MAIN, "v0 cdi=off ERROR" },
	{ "other kinds everywhere",
	  { FILE_AT(MAIN, "version = \"x\"\nplugins = 5\n") },
	  MAIN,
	  "v1 cdi=off" },
	{ "other kinds below",
	  { FILE_AT(MAIN, "version = 2\n[" V2 "]\nenable_cdi = \"yes\"\ncontainerd = [1]\n") },
	  MAIN,
	  "v2 cdi=off" },
	{ "huge version", { FILE_AT(MAIN, "version = 1e300\n") }, MAIN, "v2147483647 cdi=on" },
	{ "negative version",
	  { FILE_AT(MAIN, "version = -1\n" RUNTIME(V1, "/a")) },
	  MAIN,
	  "v-1 nvidia=" TYPE ",/a@" MAIN " cdi=off" },
	{ "hostile bytes",
	  { FILE_AT(MAIN,
		    "version = 3\n[" V3 ".containerd]\ndefault_runtime_name = \"\\u001b[2J\"\n") },
	  MAIN,
	  "v3 default=\033[2J cdi=on" },
};

static void reads_containerd(void **state)
{
	const __typeof__(containerd_rows[0]) *row = *state;
	struct nfd_runtime_config config;
	const char *tree = tree_new();

	tree_fill(tree, row->tree);
	nfd_containerd_read(tree_root(tree, false), MAIN, &config);
	assert_int_equal(config.kind, NFD_RUNTIME_CONTAINERD);
	assert_string_equal(config.path, row->path);
	assert_string_equal(config_text(&config), row->text);
}

static const struct {
	const char *name;
	struct tree_entry tree[4];
	const char *path, *text;
} crio_rows[] = {
	{ "nothing", { DIR_AT("etc") }, "", "v0 cdi=on" },
	{ "main file",
	  { FILE_AT("etc/crio/crio.conf",
		    "[crio.runtime]\ndefault_runtime = \"crun\"\n[crio.runtime.runtimes.crun]\n") },
	  "etc/crio/crio.conf",
	  "v0 default=crun cdi=on" },
	{ "drop-in",
	  { FILE_AT("etc/crio/crio.conf", "[crio]\n"),
	    FILE_AT("etc/crio/crio.conf.d/99-nvidia.conf",
		    "[crio.runtime]\ndefault_runtime = \"nvidia\"\n[crio.runtime.runtimes.nvidia]\n"
		    "runtime_path = \"" BINARY "\"\nruntime_type = \"oci\"\n") },
	  "etc/crio/crio.conf",
	  "v0 nvidia=oci," BINARY "@etc/crio/crio.conf.d/99-nvidia.conf default=nvidia cdi=on" },
	{ "drop-in without main file",
	  { FILE_AT("etc/crio/crio.conf.d/a", "[crio.runtime.runtimes.nvidia]\n") },
	  "etc/crio/crio.conf.d/a",
	  "v0 nvidia=,@etc/crio/crio.conf.d/a cdi=on" },
	{ "broken", { FILE_AT("etc/crio/crio.conf", "[crio") }, "", "v0 cdi=on ERROR" },
	{ "other kinds",
	  { FILE_AT("etc/crio/crio.conf", "crio = { runtime = [1] }\n") },
	  "etc/crio/crio.conf",
	  "v0 cdi=on" },
};

static void reads_crio(void **state)
{
	const __typeof__(crio_rows[0]) *row = *state;
	struct nfd_runtime_config config;
	const char *tree = tree_new();

	tree_fill(tree, row->tree);
	nfd_crio_read(tree_root(tree, false), &config);
	assert_int_equal(config.kind, NFD_RUNTIME_CRIO);
	assert_string_equal(config.path, row->path);
	assert_string_equal(config_text(&config), row->text);
}

#define DAEMON "etc/docker/daemon.json"

static const struct {
	const char *name, *json, *text;
} docker_rows[] = {
	{ "empty object", "{}", "v0 cdi=off" },
	{ "runtime",
	  "{\"default-runtime\":\"nvidia\",\"runtimes\":{\"nvidia\":{\"path\":\"" BINARY
	  "\",\"args\":[]}}}",
	  "v0 nvidia=oci," BINARY "@" DAEMON " default=nvidia cdi=off" },
	{ "CDI", "{\"features\":{\"cdi\":true}}", "v0 cdi=on" },
	{ "empty file", "", "v0 cdi=off ERROR" },
	{ "no JSON", "{", "v0 cdi=off ERROR" },
	{ "other kinds", "{\"runtimes\":[1],\"default-runtime\":5,\"features\":\"x\"}",
	  "v0 cdi=off" },
	{ "array", "[]", "v0 cdi=off" },
	{ "hostile bytes", "\377", "v0 cdi=off ERROR" },
};

static void reads_docker(void **state)
{
	const __typeof__(docker_rows[0]) *row = *state;
	struct nfd_runtime_config config;
	const char *tree = tree_new();

	tree_file(tree, DAEMON, row->json);
	nfd_docker_read(tree_root(tree, false), &config);
	assert_int_equal(config.kind, NFD_RUNTIME_DOCKER);
	assert_string_equal(config.path, DAEMON);
	assert_string_equal(config_text(&config), row->text);
}

static void docker_without_file(void **state)
{
	struct nfd_runtime_config config;

	(void)state;
	nfd_docker_read(tree_root(tree_new(), false), &config);
	assert_string_equal(config.path, "");
	assert_string_equal(config.error, "");
}

static void is_bounded(void **state)
{
	const char *tree = tree_new(), *text = unit_repeat('x', 5000);
	struct nfd_runtime_config config;

	(void)state;
	for (int i = 0; i < NFD_RUNTIME_DROPINS_MAX + 5; i++)
		tree_file(tree, unit_text("etc/containerd/conf.d/%02d.toml", i), "version = 3\n");
	tree_file(tree, MAIN,
		  unit_text("version = 3\n" IMPORTS "[" V3
			    ".containerd]\ndefault_runtime_name = \"%s\"\n" RUNTIME(V3, "/%s"),
			    text, text));
	nfd_containerd_read(tree_root(tree, false), MAIN, &config);
	assert_int_equal(config.imported_count, NFD_RUNTIME_DROPINS_MAX);
	assert_int_equal(strlen(config.default_runtime), sizeof(config.default_runtime) - 1);
	assert_int_equal(strlen(config.nvidia.binary), sizeof(config.nvidia.binary) - 1);
	tree_file(tree, MAIN, unit_text("imports = [\"/%s\", \"%s/*\"]\n", text, text));
	nfd_containerd_read(tree_root(tree, false), MAIN, &config);
	assert_string_equal(config.error, "");
	tree_file(tree, MAIN, unit_text("#%s\n", unit_repeat('x', 1024 * 1024)));
	nfd_containerd_read(tree_root(tree, false), MAIN, &config);
	unit_assert_contains(config.error, MAIN);
}

int main(void)
{
	struct unit_suite suite = { .name = "runtime_config" };

	UNIT_ROWS(&suite, reads_containerd, containerd_rows, name);
	UNIT_ROWS(&suite, reads_crio, crio_rows, name);
	UNIT_ROWS(&suite, reads_docker, docker_rows, name);
	UNIT_CASE(&suite, docker_without_file);
	UNIT_CASE(&suite, is_bounded);
	return unit_run(&suite);
}
