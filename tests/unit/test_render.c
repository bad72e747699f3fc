// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * output/render: text and JSON for stdout.
 */
#include "config.h"

#include "output/render.h"

#include "labels/features.h"
#include "tests/unit/labels.h"
#include "tests/unit/unit.h"

static void text_is_sorted(void **state)
{
	cleanup_set struct nfd_set set = labels_set("z/b=2\n!a/c=1\na/b=\n");
	cleanup_strbuf struct nfd_strbuf buf = { 0 };

	(void)state;
	nfd_render_text(&set, &buf);
	assert_string_equal(nfd_strbuf_text(&buf), "a/b=\nz/b=2\n");
}

static void text_of_nothing(void **state)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	struct nfd_set set = { 0 };

	(void)state;
	nfd_render_text(&set, &buf);
	assert_string_equal(nfd_strbuf_text(&buf), "");
}

/* The JSON without blanks, so that a row can hold it. */
static const char *compact(const struct nfd_set *set, const struct nfd_unknowns *unknowns,
			   const cJSON *features)
{
	cleanup_strbuf struct nfd_strbuf buf = { 0 };
	const char *text;

	nfd_render_json(set, unknowns, features, &buf);
	assert_int_equal(buf.error, 0);
	assert_int_equal(buf.data[buf.len - 1], '\n');
	cJSON_Minify(buf.data);
	text = unit_text("%s", buf.data);
	return text;
}

static void json_has_all_members(void **state)
{
	cleanup_set struct nfd_set set = { 0 };
	struct nfd_label label = { .key = (char[]){ "a/b" },
				   .value = (char[]){ "1" },
				   .source = (char[]){ "path: \"x\"\xff" } };
	struct nfd_label stopped = { .key = (char[]){ "a/c" },
				     .value = (char[]){ "1" },
				     .stopped_by = (char[]){ "s" } };
	struct nfd_unknowns unknowns = { 0 };
	cJSON *features = nfd_features_new();

	(void)state;
	assert_int_equal(nfd_set_put(&set, &label), 0);
	assert_int_equal(nfd_set_put(&set, &stopped), 0);
	assert_int_equal(nfd_unknowns_add(&unknowns, "a/", "cannot read", false), 0);
	assert_int_equal(nfd_unknowns_add(&unknowns, "b/", "only a doubt", true), 0);
	assert_string_equal(compact(&set, &unknowns, features),
			    "{\"schema\":1,\"labels\":{\"a/b\":\"1\"},\"sources\":{\"a/b\":"
			    "\"path: \\\"x\\\"\xff\"},\"features\":{\"flags\":{},\"attributes\":{},"
			    "\"instances\":{}},\"unknown\":[{\"keys\":\"a/\",\"reason\":"
			    "\"cannot read\"}]}");
	cJSON_Delete(features);
	nfd_unknowns_done(&unknowns);
}

static void json_of_nothing(void **state)
{
	struct nfd_unknowns unknowns = { 0 };
	struct nfd_set set = { 0 };
	cJSON *features = cJSON_CreateObject();

	(void)state;
	assert_string_equal(compact(&set, &unknowns, features),
			    "{\"schema\":1,\"labels\":{},\"sources\":{},\"features\":{},"
			    "\"unknown\":[]}");
	cJSON_Delete(features);
}

int main(void)
{
	struct unit_suite suite = { .name = "render" };

	UNIT_CASE(&suite, text_is_sorted);
	UNIT_CASE(&suite, text_of_nothing);
	UNIT_CASE(&suite, json_has_all_members);
	UNIT_CASE(&suite, json_of_nothing);
	return unit_run(&suite);
}
