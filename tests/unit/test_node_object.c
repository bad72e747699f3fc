// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output/node_object: the NodeFeature object (spec nfd.md 4; field case G3).
 */
#include "config.h"

#include "output/node_object.h"

#include <errno.h>
#include <string.h>

#include "labels/features.h"
#include "tests/unit/labels.h"
#include "tests/unit/unit.h"

#define HEAD "{\"apiVersion\":\"nfd.k8s-sigs.io/v1alpha1\",\"kind\":\"NodeFeature\",\"metadata\":{"
#define NODE_LABEL "\"labels\":{\"nfd.node.kubernetes.io/node-name\":\"n1\"}}"
#define NO_FEATURES "{\"flags\":{},\"attributes\":{},\"instances\":{}}"

static const char *compact_wishes(const struct nfd_object_wish *wish, size_t count)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	assert_int_equal(nfd_node_feature_render(wish, count, &buf, NULL), 0);
	assert_int_equal(buf.data[buf.len - 1], '\n');
	cJSON_Minify(buf.data);
	return unit_text("%s", buf.data);
}

static const char *compact(const char *namespace, const struct nfd_set *set, const cJSON *features)
{
	const struct nfd_object_wish wish = {
		.node = "n1", .namespace = namespace, .set = set, .features = features
	};

	return compact_wishes(&wish, 1);
}

static void object_without_labels(void **state)
{
	struct nfd_set set = { 0 };

	(void)state;
	assert_string_equal(compact("", &set, NULL),
			    HEAD "\"name\":\"n1-nfd-source\"," NODE_LABEL
				 ",\"spec\":{\"features\":" NO_FEATURES ",\"labels\":{}}}");
}

static void object_with_everything(void **state)
{
	cleanup_set struct nfd_set set = labels_set("a/b=1\n!a/c=2\na/d=");
	cJSON *features = nfd_features_new();

	(void)state;
	assert_int_equal(nfd_features_attribute(features, "nfd-source.x", "k", "v"), 0);
	assert_string_equal(compact("ns", &set, features),
			    HEAD "\"name\":\"n1-nfd-source\",\"namespace\":\"ns\"," NODE_LABEL
				 ",\"spec\":{\"features\":{\"flags\":{},\"attributes\":{"
				 "\"nfd-source.x\":{\"elements\":{\"k\":\"v\"}}},\"instances\":{}},"
				 "\"labels\":{\"a/b\":\"1\",\"a/d\":\"\"}}}");
	cJSON_Delete(features);
}

/* Features of ours and of NFD's, with one that is large. */
static cJSON *mixed_features(void)
{
	cJSON *features = nfd_features_new();

	assert_int_equal(nfd_features_attribute(features, "nfd-source.x", "k", "v"), 0);
	assert_int_equal(nfd_features_attribute(features, "kernel.config", "A", "y"), 0);
	assert_int_equal(nfd_features_add(features, NFD_FLAGS, "cpu.cpuid"), 0);
	assert_int_equal(nfd_features_add(features, NFD_ATTRIBUTES, "cpu.cpuid"), 0);
	assert_int_equal(nfd_features_add(features, NFD_INSTANCES, "pci.device"), 0);
	return features;
}

#define OBJECT_FEATURES(flags, attributes, instances)                          \
	"\"features\":{\"flags\":{" flags "},\"attributes\":{" attributes "}," \
	"\"instances\":{" instances "}},\"labels\":{}}}"
#define CPUID "\"cpu.cpuid\":{\"elements\":{}}"
#define PCI "\"pci.device\":{\"elements\":[]}"
#define CONFIG "\"kernel.config\":{\"elements\":{\"A\":\"y\"}}"
#define X "\"nfd-source.x\":{\"elements\":{\"k\":\"v\"}}"

static char *held_back[] = { (char[]){ "cpu.*" }, (char[]){ "pci.device" } };

static const struct {
	const char *name;
	enum nfd_object_kind kind;
	size_t held_back;
	const char *features;
} kind_rows[] = {
	{ "alone: all but what is large", NFD_OBJECT_WHOLE, 0,
	  OBJECT_FEATURES(CPUID, X "," CPUID, PCI) },
	{ "ours beside the other", NFD_OBJECT_OWN, 0, OBJECT_FEATURES("", X, "") },
	{ "in nfd-worker's place", NFD_OBJECT_WORKERS, 0,
	  OBJECT_FEATURES(CPUID, CONFIG "," CPUID, PCI) },
	{ "by beginning", NFD_OBJECT_WHOLE, 1, OBJECT_FEATURES("", X, PCI) },
	{ "by name too", NFD_OBJECT_WORKERS, 2, OBJECT_FEATURES("", CONFIG, "") },
};

static void features_by_kind(void **state)
{
	const __typeof__(kind_rows[0]) *row = *state;
	const struct nfd_texts list = { held_back, row->held_back };
	struct nfd_set set = { 0 };
	cJSON *features = mixed_features();
	const struct nfd_object_wish wish = {
		.kind = row->kind,
		.node = "n1",
		.namespace = "",
		.set = &set,
		.features = features,
		.no_features = &list,
	};

	unit_assert_contains(compact_wishes(&wish, 1), row->features);
	cJSON_Delete(features);
}

/* As nfd-worker writes it, but for the version (spec nfd.md 4.1). */
static void in_nfd_workers_place(void **state)
{
	struct nfd_set set = { 0 };
	struct nfd_object_wish wish[2] = {
		{ .kind = NFD_OBJECT_WORKERS, .node = "n1", .namespace = "", .set = &set },
		{ .kind = NFD_OBJECT_OWN, .node = "n1", .namespace = "", .set = &set },
	};

	(void)state;
	assert_string_equal(
		compact_wishes(wish, 1), HEAD
		"\"name\":\"n1\",\"labels\":{\"nfd.node.kubernetes.io/node-name\":\"n1\"},"
		"\"annotations\":{\"nfd.node.kubernetes.io/worker.version\":"
		"\"nfd-source v" PACKAGE_VERSION "\"}},\"spec\":{" OBJECT_FEATURES("", "", ""));
	wish[0].pod_uid = "u-1";
	unit_assert_contains(compact_wishes(wish, 1),
			     "\"nfd.node.kubernetes.io/worker.pod.uid\":\"u-1\"}");
	unit_assert_contains(compact_wishes(wish, 2),
			     "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{");
	unit_assert_contains(compact_wishes(wish, 2), "\"name\":\"n1-nfd-source\"");
}

#define N63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static const struct {
	const char *node;
	int result;
} node_rows[] = {
	{ "n1", 0 },       { "ip-10-67-12-187.ec2.internal", 0 },
	{ N63, 0 },        { N63 "a", -EINVAL },
	{ "", -EINVAL },   { "a b", -EINVAL },
	{ "-a", -EINVAL }, { "a\"b", -EINVAL },
};

static void g3_node_name_must_be_a_label_value(void **state)
{
	const __typeof__(node_rows[0]) *row = *state;
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	struct nfd_set set = { 0 };
	const struct nfd_object_wish wish = { .node = row->node, .namespace = "", .set = &set };
	struct nfd_error err = { 0 };

	assert_int_equal(nfd_node_feature_render(&wish, 1, &buf, &err), row->result);
	if (row->result == 0)
		unit_assert_contains(nfd_strbuf_text(&buf),
				     unit_text("\"%s-nfd-source\"", row->node));
	else
		unit_assert_contains(err.text, unit_text("\"%s\"", row->node));
}

int main(void)
{
	struct unit_suite suite = { .name = "node_object" };

	UNIT_CASE(&suite, object_without_labels);
	UNIT_CASE(&suite, object_with_everything);
	UNIT_ROWS(&suite, features_by_kind, kind_rows, name);
	UNIT_CASE(&suite, in_nfd_workers_place);
	UNIT_ROWS(&suite, g3_node_name_must_be_a_label_value, node_rows, node);
	return unit_run(&suite);
}
