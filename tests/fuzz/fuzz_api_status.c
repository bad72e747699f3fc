// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What an API server, or whoever answers in its place, sends with a status of 300 or more.
 */
#include "config.h"

#include <string.h>

#include "api/api_error.h"
#include "tests/fuzz/fuzz.h"

static const int statuses[] = { 300, 401, 403, 404, 409, 422, 429, 500, 999 };

static void check_list(const cJSON *list, int count)
{
	const cJSON *entry;

	FUZZ_CHECK(count >= 0 && count == cJSON_GetArraySize(list));
	cJSON_ArrayForEach(entry, list) {
		FUZZ_CHECK(cJSON_IsString(cJSON_GetObjectItemCaseSensitive(entry, "key")));
		FUZZ_CHECK(cJSON_IsString(cJSON_GetObjectItemCaseSensitive(entry, "message")));
	}
}

static void take(const char *body, int status)
{
	cleanup_api_error struct nfd_api_error err = { 0 };
	cJSON *labels = cJSON_CreateObject();
	cJSON *conflicts = cJSON_CreateArray(), *named = cJSON_CreateArray();
	cJSON *object;

	cJSON_AddStringToObject(labels, "feature.node.kubernetes.io/pci-10de.present", "true");
	cJSON_AddStringToObject(labels, "a/b", "x");
	cJSON_AddStringToObject(labels, "a/c", "");
	FUZZ_CHECK(nfd_api_error_status(&err, status, "GET /", body) < 0);
	FUZZ_CHECK(strncmp(err.error.text, "GET /: ", 7) == 0);
	FUZZ_CHECK(!nfd_api_error_is_missing_type(&err) || status == 404);
	check_list(conflicts, nfd_api_error_conflicts(&err, conflicts));
	check_list(named, nfd_api_error_named_keys(&err, labels, named));
	FUZZ_CHECK(cJSON_GetArraySize(named) <= cJSON_GetArraySize(labels));
	object = nfd_api_error_object(&err);
	FUZZ_CHECK(object != NULL);
	cJSON_Delete(object);
	cJSON_Delete(labels);
	cJSON_Delete(conflicts);
	cJSON_Delete(named);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *body = fuzz_text(data, size);

	for (size_t i = 0; i < NFD_ARRAY_SIZE(statuses); i++)
		take(body, statuses[i]);
	return 0;
}
