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

static const char *compact(const char *namespace, const struct nfd_set *set, const cJSON *features)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	assert_int_equal(nfd_node_feature_render("n1", namespace, set, features, &buf, NULL), 0);
	assert_int_equal(buf.data[buf.len - 1], '\n');
	cJSON_Minify(buf.data);
	return unit_text("%s", buf.data);
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
	struct nfd_error err = { 0 };

	assert_int_equal(nfd_node_feature_render(row->node, "", &set, NULL, &buf, &err),
			 row->result);
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
	UNIT_ROWS(&suite, g3_node_name_must_be_a_label_value, node_rows, node);
	return unit_run(&suite);
}
