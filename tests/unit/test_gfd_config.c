// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/gfd_config: gpu-feature-discovery's configuration file, taken and refused.
 */
#include "config.h"

#include "scan/gfd_config.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#define SLICED(resources) "version: v1\nsharing:\n  timeSlicing:\n    resources:\n" resources
#define GPU_4 "    - name: nvidia.com/gpu\n      replicas: 4\n"

/* Strategy, sharing, marks, resources: see describe(). */
static const struct {
	const char *name, *text, *shown;
} good_rows[] = {
	{ "empty", "", "0 none" },
	{ "null", "~\n", "0 none" },
	{ "version alone", "version: v1\n", "0 none" },
	{ "no version", "flags:\n  migStrategy: mixed\n", "3 none" },
	{ "strategy none", "flags:\n  migStrategy: none\n", "1 none" },
	{ "strategy single", "version: v1\nflags:\n  migStrategy: single\n", "2 none" },
	{ "strategy null", "flags:\n  migStrategy:\n", "0 none" },
	{ "other flags are ignored",
	  "version: v1\nflags:\n  migStrategy: none\n  failOnInitError: false\n"
	  "  gfd:\n    sleepInterval: 30s\n  plugin:\n    deviceListStrategy: envvar\n",
	  "1 none" },
	{ "unknown keys are ignored", "version: v1\nresources:\n  gpus: []\nimex: {}\n", "0 none" },
	{ "time slicing", SLICED(GPU_4), "0 time-slicing nvidia.com/gpu*4" },
	{ "renamed by default",
	  "sharing:\n  timeSlicing:\n    renameByDefault: true\n    resources:\n" GPU_4,
	  "0 time-slicing renamed nvidia.com/gpu*4" },
	{ "fail flag, rename and devices mean nothing",
	  "sharing:\n  timeSlicing:\n    failRequestsGreaterThanOne: true\n    resources:\n" GPU_4
	  "      rename: nvidia.com/tiny\n      devices: [0, 1]\n",
	  "0 time-slicing nvidia.com/gpu*4" },
	{ "the prefix is completed", SLICED("    - {name: gpu, replicas: 2}\n"),
	  "0 time-slicing nvidia.com/gpu*2" },
	{ "several resources", SLICED(GPU_4 "    - {name: nvidia.com/mig-1g.10gb, replicas: 2}\n"),
	  "0 time-slicing nvidia.com/gpu*4 nvidia.com/mig-1g.10gb*2" },
	{ "MPS", "sharing:\n  mps:\n    resources:\n" GPU_4, "0 mps nvidia.com/gpu*4" },
	{ "MPS goes before time slicing",
	  SLICED("    - {name: gpu, replicas: 2}\n") "  mps:\n    resources:\n" GPU_4,
	  "0 mps nvidia.com/gpu*4" },
	{ "MPS null", SLICED(GPU_4) "  mps:\n", "0 time-slicing nvidia.com/gpu*4" },
	{ "JSON",
	  "{\"version\":\"v1\",\"flags\":{\"migStrategy\":\"single\"},\"sharing\":{\"mps\":"
	  "{\"resources\":[{\"name\":\"nvidia.com/gpu\",\"replicas\":10}]}}}",
	  "2 mps nvidia.com/gpu*10" },
};

static const char *describe(const struct nfd_gfd_config *config)
{
	const char *text = unit_text("%d %s%s", config->mig_strategy, config->sharing,
				     config->is_renamed ? " renamed" : "");

	assert_int_equal(config->is_mps, strcmp(config->sharing, "mps") == 0);
	for (size_t i = 0; i < config->count; i++)
		text = unit_text("%s %s*%u", text, config->resource[i].name,
				 config->resource[i].replicas);
	return text;
}

static void takes(void **state)
{
	const __typeof__(good_rows[0]) *row = *state;
	struct nfd_gfd_config config;
	struct nfd_error err = { 0 };

	assert_int_equal(nfd_gfd_config_parse(row->text, strlen(row->text), "f", &config, &err), 0);
	assert_string_equal(describe(&config), row->shown);
}

static const struct {
	const char *name, *text, *why;
} bad_rows[] = {
	{ "no YAML", "a: [\n", "f:2:1: not YAML" },
	{ "a list", "- a\n", "f: is no mapping" },
	{ "a text", "hello\n", "f: is no mapping" },
	{ "other version", "version: v2\n", "f: version \"v2\" is not \"v1\"" },
	{ "strategy of another name", "flags:\n  migStrategy: both\n", "flags.migStrategy" },
	{ "strategy is a list", "flags:\n  migStrategy: [none]\n", "flags.migStrategy" },
	{ "empty strategy text", "flags:\n  migStrategy: ''\n", "flags.migStrategy" },
	{ "time slicing without resources", "sharing:\n  timeSlicing: {}\n",
	  "sharing.timeSlicing names no resources" },
	{ "no resources in the list", "sharing:\n  mps:\n    resources: []\n",
	  "sharing.mps names no resources" },
	{ "no name", SLICED("    - replicas: 2\n"), "no name" },
	{ "illegal name", SLICED("    - {name: 'a b', replicas: 2}\n"),
	  "Kubernetes does not take" },
	{ "prefix alone", SLICED("    - {name: nvidia.com/, replicas: 2}\n"), "no name" },
	{ "name too long",
	  SLICED("    - {name: a123456789a123456789a123456789a123456789a123456789abc, "
		 "replicas: 2}\n"),
	  "Kubernetes does not take" },
	{ "no replicas", SLICED("    - name: gpu\n"), "replicas of nvidia.com/gpu" },
	{ "one replica", SLICED("    - {name: gpu, replicas: 1}\n"), "replicas of nvidia.com/gpu" },
	{ "negative replicas", SLICED("    - {name: gpu, replicas: -2}\n"), "replicas" },
	{ "replicas are words", SLICED("    - {name: gpu, replicas: many}\n"), "replicas" },
	{ "far too many replicas", SLICED("    - {name: gpu, replicas: 4294967298}\n"),
	  "replicas" },
	{ "a resource is a text", SLICED("    - gpu\n"), "no name" },
};

static void refuses(void **state)
{
	const __typeof__(bad_rows[0]) *row = *state;
	struct nfd_gfd_config config;
	struct nfd_error err = { 0 };

	assert_int_equal(nfd_gfd_config_parse(row->text, strlen(row->text), "f", &config, &err),
			 -EINVAL);
	unit_assert_contains(err.text, row->why);
	assert_string_equal(describe(&config), "0 none");
}

static void too_many_resources(void **state)
{
	const char *text = "sharing:\n  mps:\n    resources:\n";
	struct nfd_gfd_config config;
	struct nfd_error err = { 0 };

	(void)state;
	for (int i = 0; i < NFD_GFD_RESOURCES_MAX; i++)
		text = unit_text("%s    - {name: r%d, replicas: 2}\n", text, i);
	assert_int_equal(nfd_gfd_config_parse(text, strlen(text), "f", &config, &err), 0);
	text = unit_text("%s    - {name: more, replicas: 2}\n", text);
	assert_int_equal(nfd_gfd_config_parse(text, strlen(text), "f", &config, &err), -E2BIG);
	assert_int_equal(config.count, 0);
}

static void reads_a_file(void **state)
{
	const char *tree = tree_new();
	struct nfd_gfd_config config;
	struct nfd_error err = { 0 };

	(void)state;
	assert_int_equal(nfd_gfd_config_read(NULL, &config, &err), 0);
	assert_int_equal(nfd_gfd_config_read("", &config, &err), 0);
	assert_int_equal(nfd_gfd_config_read(tree_path(tree, "none"), &config, &err), -ENOENT);
	unit_assert_contains(err.text, tree_path(tree, "none"));
	assert_string_equal(describe(&config), "0 none");
	tree_file(tree, "..data/config.yaml", SLICED(GPU_4));
	tree_fill(tree,
		  (struct tree_entry[]){ LINK_AT("config.yaml", "..data/config.yaml"), { 0 } });
	assert_int_equal(nfd_gfd_config_read(tree_path(tree, "config.yaml"), &config, NULL), 0);
	assert_string_equal(describe(&config), "0 time-slicing nvidia.com/gpu*4");
	tree_file(tree, "big", unit_repeat('#', NFD_GFD_CONFIG_MAX + 1));
	assert_int_equal(nfd_gfd_config_read(tree_path(tree, "big"), &config, NULL), -EFBIG);
	tree_file(tree, "bad", "- a\n");
	assert_int_equal(nfd_gfd_config_read(tree_path(tree, "bad"), &config, &err), -EINVAL);
	unit_assert_contains(err.text, tree_path(tree, "bad"));
}

int main(void)
{
	struct unit_suite suite = { .name = "gfd_config" };

	UNIT_ROWS(&suite, takes, good_rows, name);
	UNIT_ROWS(&suite, refuses, bad_rows, name);
	UNIT_CASE(&suite, too_many_resources);
	UNIT_CASE(&suite, reads_a_file);
	return unit_run(&suite);
}
