// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * labels/features: the shape of spec.features.
 */
#include "config.h"

#include "labels/features.h"

#include "tests/unit/unit.h"

static const char *text_of(const cJSON *features)
{
	char *text = cJSON_PrintUnformatted(features);
	const char *copy;

	assert_non_null(text);
	copy = unit_text("%s", text);
	cJSON_free(text);
	return copy;
}

static void empty_has_all_members(void **state)
{
	cJSON *features = nfd_features_new();

	(void)state;
	assert_string_equal(text_of(features), "{\"flags\":{},\"attributes\":{},\"instances\":{}}");
	cJSON_Delete(features);
}

static void attributes_are_replaced(void **state)
{
	cJSON *features = nfd_features_new();

	(void)state;
	assert_int_equal(nfd_features_attribute(features, "nfd-source.a", "x", "1"), 0);
	assert_int_equal(nfd_features_attribute(features, "nfd-source.a", "X", "3"), 0);
	assert_int_equal(nfd_features_attribute(features, "nfd-source.a", "x", "2"), 0);
	assert_string_equal(text_of(features), "{\"flags\":{},\"attributes\":{\"nfd-source.a\":"
					       "{\"elements\":{\"X\":\"3\",\"x\":\"2\"}}},"
					       "\"instances\":{}}");
	cJSON_Delete(features);
}

static void instances_are_appended(void **state)
{
	cJSON *features = nfd_features_new();
	cJSON *attributes;

	(void)state;
	for (int i = 0; i < 2; i++) {
		attributes = nfd_features_instance(features, "nfd-source.pci");
		assert_non_null(attributes);
		assert_int_equal(nfd_features_put(attributes, "n", i ? "1" : "0"), 0);
	}
	assert_string_equal(text_of(features),
			    "{\"flags\":{},\"attributes\":{},\"instances\":{\"nfd-source.pci\":"
			    "{\"elements\":[{\"attributes\":{\"n\":\"0\"}},"
			    "{\"attributes\":{\"n\":\"1\"}}]}}}");
	cJSON_Delete(features);
}

static void empty_features_are_kept(void **state)
{
	cJSON *features = nfd_features_new();

	(void)state;
	assert_int_equal(nfd_features_add(features, NFD_FLAGS, "a.f"), 0);
	assert_int_equal(nfd_features_add(features, NFD_ATTRIBUTES, "a.a"), 0);
	assert_int_equal(nfd_features_attribute(features, "a.a", "x", "1"), 0);
	assert_int_equal(nfd_features_add(features, NFD_ATTRIBUTES, "a.a"), 0);
	assert_int_equal(nfd_features_add(features, NFD_INSTANCES, "a.i"), 0);
	assert_string_equal(text_of(features),
			    "{\"flags\":{\"a.f\":{\"elements\":{}}},"
			    "\"attributes\":{\"a.a\":{\"elements\":{\"x\":\"1\"}}},"
			    "\"instances\":{\"a.i\":{\"elements\":[]}}}");
	cJSON_Delete(features);
}

static void many_at_once(void **state)
{
	static const char *const flag[] = { "y", "x" };
	static const struct nfd_attribute attribute[] = { { "B", "2" }, { "A", "caf\xe9" } };
	cJSON *features = nfd_features_new();

	(void)state;
	assert_int_equal(nfd_features_add(features, NFD_FLAGS, "a.f"), 0);
	assert_int_equal(nfd_features_flags(features, "a.f", flag, 2), 0);
	assert_int_equal(nfd_features_add(features, NFD_FLAGS, "a.f"), 0);
	assert_int_equal(nfd_features_flags(features, "a.none", flag, 0), 0);
	assert_int_equal(nfd_features_attributes(features, "a.f", attribute, 2), 0);
	assert_string_equal(text_of(features),
			    "{\"flags\":{\"a.f\":{\"elements\":{\"y\":{},\"x\":{}}},"
			    "\"a.none\":{\"elements\":{}}},"
			    "\"attributes\":{\"a.f\":{\"elements\":{\"B\":\"2\","
			    "\"A\":\"caf\xef\xbf\xbd\"}}},\"instances\":{}}");
	cJSON_Delete(features);
}

/* A name can be of several kinds. */
static void copies_all_kinds(void **state)
{
	static const char *const flag[] = { "x" };
	cJSON *from = nfd_features_new(), *to = nfd_features_new();
	cJSON *instance = nfd_features_instance(from, "a.b");

	(void)state;
	assert_int_equal(nfd_features_flags(from, "a.b", flag, 1), 0);
	assert_int_equal(nfd_features_attribute(from, "a.b", "n", "1"), 0);
	assert_int_equal(nfd_features_put(instance, "i", "2"), 0);
	assert_int_equal(nfd_features_attribute(from, "a.other", "n", "1"), 0);
	assert_int_equal(nfd_features_add(from, NFD_INSTANCES, "a.empty"), 0);
	assert_int_equal(nfd_features_copy(from, "a.b", to), 0);
	assert_int_equal(nfd_features_copy(from, "a.empty", to), 0);
	assert_int_equal(nfd_features_copy(from, "a.none", to), 0);
	assert_int_equal(nfd_features_attribute(from, "a.b", "n", "changed"), 0);
	cJSON_Delete(from);
	assert_string_equal(text_of(to), "{\"flags\":{\"a.b\":{\"elements\":{\"x\":{}}}},"
					 "\"attributes\":{\"a.b\":{\"elements\":{\"n\":\"1\"}}},"
					 "\"instances\":{\"a.b\":{\"elements\":[{\"attributes\":"
					 "{\"i\":\"2\"}}]},\"a.empty\":{\"elements\":[]}}}");
	cJSON_Delete(to);
}

static void nobody_asked(void **state)
{
	(void)state;
	assert_int_equal(nfd_features_attribute(NULL, "nfd-source.a", "x", "1"), 0);
	assert_int_equal(nfd_features_add(NULL, NFD_FLAGS, "a.f"), 0);
	assert_int_equal(nfd_features_flags(NULL, "a.f", NULL, 0), 0);
	assert_int_equal(nfd_features_attributes(NULL, "a.f", NULL, 0), 0);
	assert_int_equal(nfd_features_copy(NULL, "a.f", NULL), 0);
}

static void there_were_none(void **state)
{
	cJSON *to = nfd_features_new();

	(void)state;
	assert_int_equal(nfd_features_copy(NULL, "a.f", to), 0);
	assert_string_equal(text_of(to), "{\"flags\":{},\"attributes\":{},\"instances\":{}}");
	cJSON_Delete(to);
}

int main(void)
{
	struct unit_suite suite = { .name = "features" };

	UNIT_CASE(&suite, empty_has_all_members);
	UNIT_CASE(&suite, attributes_are_replaced);
	UNIT_CASE(&suite, instances_are_appended);
	UNIT_CASE(&suite, empty_features_are_kept);
	UNIT_CASE(&suite, many_at_once);
	UNIT_CASE(&suite, copies_all_kinds);
	UNIT_CASE(&suite, nobody_asked);
	UNIT_CASE(&suite, there_were_none);
	return unit_run(&suite);
}
