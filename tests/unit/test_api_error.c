// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * api/api_error: statuses of the API server, which are hostile text, as errors and lists of keys.
 */
#include "config.h"

#include "api/api_error.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/json_row.h"
#include "tests/unit/unit.h"

#define FORBIDDEN "{\"message\":\"no\",\"reason\":\"Forbidden\"}"

static const struct {
	const char *name;
	int status;
	const char *body;
	int code;
	const char *text, *reason, *retry;
} rows[] = {
	{ "300", 300, "moved", -EREMOTEIO, "GET x: 300: moved", "", "slow" },
	{ "400", 400, "{\"message\":\"m\",\"reason\":\"BadRequest\"}", -EINVAL, "GET x: 400: m",
	  "BadRequest", "slow" },
	{ "401", 401, "", -EACCES, "GET x: 401:", "", "slow" },
	{ "403", 403, FORBIDDEN, -EACCES, "GET x: 403: no", "Forbidden", "slow" },
	{ "404", 404, "404 page not found\n", -ENOENT, NULL, "", "slow" },
	{ "409", 409, "{\"message\":\"m\"}", -EEXIST, "GET x: 409: m", "", "soon" },
	{ "418", 418, "", -EREMOTEIO, "GET x: 418:", "", "slow" },
	{ "422", 422, "", -EINVAL, "GET x: 422:", "", "slow" },
	{ "429", 429, "", -EAGAIN, "GET x: 429:", "", "soon" },
	{ "499", 499, "", -EREMOTEIO, "GET x: 499:", "", "slow" },
	{ "500", 500, "", -EAGAIN, "GET x: 500:", "", "soon" },
	{ "503", 503, "<html>", -EAGAIN, "GET x: 503: <html>", "", "soon" },
	{ "599", 599, "", -EAGAIN, "GET x: 599:", "", "soon" },
	{ "message is a number", 500, "{\"message\":7}", -EAGAIN, "GET x: 500: {\"message\":7}", "",
	  "soon" },
	{ "message is null", 500, "{\"message\":null,\"reason\":null}", -EAGAIN,
	  "GET x: 500: {\"message\":null,\"reason\":null}", "", "soon" },
	{ "body is an array", 500, "[{\"message\":\"m\"}]", -EAGAIN,
	  "GET x: 500: [{\"message\":\"m\"}]", "", "soon" },
	{ "body is a text", 500, "\"message\"", -EAGAIN, "GET x: 500: \"message\"", "", "soon" },
	{ "body is cut", 500, "{\"message\":\"m", -EAGAIN, "GET x: 500: {\"message\":\"m", "",
	  "soon" },
	{ "percent signs are text", 500, "%s%n%s", -EAGAIN, "GET x: 500: %s%n%s", "", "soon" },
	{ "details are odd", 409, "{\"message\":\"m\",\"details\":[1,\"x\"]}", -EEXIST,
	  "GET x: 409: m", "", "soon" },
};

static void takes_a_status(void **state)
{
	const __typeof__(rows[0]) *row = *state;
	cleanup_api_error struct nfd_api_error err = { 0 };
	cleanup_api_error struct nfd_api_error again = { 0 };
	const cJSON *object;

	assert_int_equal(nfd_api_error_status(&err, row->status, "GET x", row->body), row->code);
	assert_int_equal(err.kind, NFD_API_REFUSED);
	assert_int_equal(err.status, row->status);
	assert_int_equal(err.error.code, row->code);
	if (row->text)
		assert_string_equal(err.error.text, row->text);
	assert_string_equal(err.reason, row->reason);
	object = json_keep(nfd_api_error_object(&err));
	assert_string_equal(json_text(cJSON_GetObjectItem(object, "kind")), "'refused'");
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(object, "retry")), row->retry);
	assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(object, "status")), row->status);
	/* It replaces an earlier one, details and all. */
	nfd_api_error_status(&again, 409, "GET y", "{\"details\":{\"name\":\"n\"}}");
	nfd_api_error_status(&again, row->status, "GET x", row->body);
	assert_string_equal(again.error.text, err.error.text);
}

/* A message is one line (docs/api-protocol.md), whatever the server writes. */
static const struct {
	const char *name, *body;
} hostile_rows[] = {
	{ "line breaks", "one\ntwo\r\nthree" },
	{ "line breaks in the message", "{\"message\":\"one\\ntwo\"}" },
	{ "terminal control", "\033[2J\033]0;title\007" },
	{ "terminal control in the message", "{\"message\":\"\\u001b[2J\"}" },
	{ "tab and delete", "a\tb\177" },
};

static void message_is_one_line(void **state)
{
	const __typeof__(hostile_rows[0]) *row = *state;
	cleanup_api_error struct nfd_api_error err = { 0 };

	nfd_api_error_status(&err, 500, "GET x", row->body);
	for (const char *c = err.error.text; *c; c++)
		assert_true((unsigned char)*c >= ' ' && *c != '\177');
}

static void long_texts_are_cut(void **state)
{
	cleanup_api_error struct nfd_api_error err = { 0 };
	const char *body = unit_text("{\"message\":\"%s\",\"reason\":\"%s\"}",
				     unit_repeat('m', 100000), unit_repeat('r', 100000));

	(void)state;
	nfd_api_error_status(&err, 403, "GET x", body);
	assert_int_equal(strlen(err.error.text), strlen("GET x: 403: ") + 400);
	assert_int_equal(strlen(err.reason), sizeof(err.reason) - 1);
}

static const struct {
	const char *name;
	enum nfd_api_kind kind;
	int64_t retry_after_ms;
	const char *object;
} object_rows[] = {
	{ "request", NFD_API_REQUEST, 0, "{'kind':'request','message':'words','retry':'slow'}" },
	{ "credentials", NFD_API_CREDENTIALS, 0,
	  "{'kind':'credentials','message':'words','retry':'slow'}" },
	{ "connect", NFD_API_CONNECT, 0, "{'kind':'connect','message':'words','retry':'soon'}" },
	{ "tls", NFD_API_TLS, 0, "{'kind':'tls','message':'words','retry':'slow'}" },
	{ "reply", NFD_API_REPLY, 0, "{'kind':'reply','message':'words','retry':'soon'}" },
	{ "retry after", NFD_API_CONNECT, 300000,
	  "{'kind':'connect','message':'words','retry':'soon','retryAfterMilliseconds':300000}" },
};

static void is_an_object(void **state)
{
	const __typeof__(object_rows[0]) *row = *state;
	cleanup_api_error struct nfd_api_error err = { 0 };

	assert_int_equal(nfd_api_error_set(&err, row->kind, -EIO, "%s", "words"), -EIO);
	err.retry_after_ms = row->retry_after_ms;
	assert_string_equal(json_text(json_keep(nfd_api_error_object(&err))), row->object);
}

static void refusal_is_an_object(void **state)
{
	cleanup_api_error struct nfd_api_error err = { 0 };

	(void)state;
	nfd_api_error_status(&err, 403, "GET x", FORBIDDEN);
	assert_string_equal(json_text(json_keep(nfd_api_error_object(&err))),
			    "{'kind':'refused','message':'GET x: 403: no','retry':'slow',"
			    "'status':403,'reason':'Forbidden'}");
}

static const struct {
	const char *name;
	int status;
	const char *body;
	bool missing;
} type_rows[] = {
	{ "no such type, text", 404, "404 page not found\n", true },
	{ "no such type, Status", 404, "{'message':'m','reason':'NotFound','details':{}}", true },
	{ "no such type, empty", 404, "", true },
	{ "no such object", 404, "{'details':{'name':'n','kind':'nodes'}}", false },
	{ "name is no text", 404, "{'details':{'name':7}}", true },
	{ "other status", 403, "{'details':{}}", false },
};

static void tells_type_from_object(void **state)
{
	const __typeof__(type_rows[0]) *row = *state;
	cleanup_api_error struct nfd_api_error err = { 0 };
	char *body = unit_text("%s", row->body);

	for (char *c = body; *c; c++)
		if (*c == '\'')
			*c = '"';
	nfd_api_error_status(&err, row->status, "GET x", body);
	assert_int_equal(nfd_api_error_is_missing_type(&err), row->missing);
}

#define CAUSE(field, message) "{'field':'" field "','message':'" message "'}"

static const struct {
	const char *name, *causes, *list;
} conflict_rows[] = {
	{ "none", "[]", "[]" },
	{ "one", "[" CAUSE(".metadata.labels.a/b", "conflict with kubectl") "]",
	  "[{'key':'a/b','message':'conflict with kubectl'}]" },
	{ "dots in the key",
	  "[" CAUSE(".metadata.labels.feature.node.kubernetes.io/pci-10de.present", "m") "]",
	  "[{'key':'feature.node.kubernetes.io/pci-10de.present','message':'m'}]" },
	{ "two, and other fields",
	  "[" CAUSE(".metadata.labels.a",
		    "m") "," CAUSE(".spec.taints",
				   "m") "," CAUSE(".metadata.annotations.a",
						  "m") "," CAUSE(".metadata.labels.b", "n") "]",
	  "[{'key':'a','message':'m'},{'key':'b','message':'n'}]" },
	{ "the same key twice",
	  "[" CAUSE(".metadata.labels.a", "m") "," CAUSE(".metadata.labels.a", "n") "]",
	  "[{'key':'a','message':'m'}]" },
	{ "the map itself", "[" CAUSE(".metadata.labels", "m") "]", "[]" },
	{ "a field that only begins so", "[" CAUSE(".metadata.labelsX.a", "m") "]", "[]" },
	{ "no message", "[{'field':'.metadata.labels.a'}]", "[{'key':'a','message':''}]" },
	{ "odd causes", "[7,null,'x',[],{},{'field':7},{'field':null,'message':'m'}]", "[]" },
	{ "causes are an object", "{'a':" CAUSE(".metadata.labels.a", "m") "}",
	  "[{'key':'a','message':'m'}]" },
	{ "causes are a text", "'x'", "[]" },
	{ "causes are null", "null", "[]" },
};

static void finds_conflicts(void **state)
{
	const __typeof__(conflict_rows[0]) *row = *state;
	struct nfd_api_error err = { .status = 409 };
	cJSON *list = json_new("[]");

	err.details = json_new(unit_text("{'causes':%s}", row->causes));
	assert_int_equal(nfd_api_error_conflicts(&err, list),
			 cJSON_GetArraySize(json_new(row->list)));
	assert_string_equal(json_text(list), row->list);
	/* What is there already is not counted again. */
	assert_int_equal(nfd_api_error_conflicts(&err, list), 0);
	assert_string_equal(json_text(list), row->list);
}

static void no_details_is_no_conflict(void **state)
{
	struct nfd_api_error err = { .status = 409 };

	(void)state;
	assert_int_equal(nfd_api_error_conflicts(&err, json_new("[]")), 0);
}

#define KEY "feature.node.kubernetes.io/pci-10de.present"

/* Whether a text names KEY; the labels are KEY with the value "true" and a second one. */
static const struct {
	const char *name;
	int status;
	const char *text, *cause; /* of the error; message of its one cause, or NULL */
	bool named;
} word_rows[] = {
	{ "alone", 403, KEY, NULL, true },
	{ "in a sentence", 403, "label " KEY " is not allowed", NULL, true },
	{ "in quotes", 403, "labels \"" KEY "\" are reserved", NULL, true },
	{ "in a list", 403, "labels: " KEY "," KEY "x", NULL, true },
	{ "with its value", 403, KEY "=true", NULL, true },
	{ "before a colon", 403, KEY ": no", NULL, true },
	{ "at the end of a sentence", 403, "not allowed: " KEY ".", NULL, true },
	{ "end of a sentence inside", 403, "not allowed: " KEY ". Ask.", NULL, true },
	{ "second place matches", 403, KEY ".x and " KEY, NULL, true },
	{ "longer: dot", 403, KEY ".x", NULL, false },
	{ "longer: dash", 403, KEY "-x", NULL, false },
	{ "longer: letter", 403, KEY "x", NULL, false },
	{ "longer: digit", 403, KEY "2", NULL, false },
	{ "longer: underscore", 403, KEY "_", NULL, false },
	{ "longer: slash", 403, KEY "/x", NULL, false },
	{ "longer: dots", 403, KEY "..", NULL, false },
	{ "longer in front", 403, "x" KEY, NULL, false },
	{ "prefix of its own", 403, "sub." KEY, NULL, false },
	{ "field path", 422, "metadata.labels." KEY, NULL, false },
	{ "the part behind the slash only", 403, "pci-10de.present", NULL, false },
	{ "other case", 403, "Feature.node.kubernetes.io/pci-10de.present", NULL, false },
	{ "cut", 403, "feature.node.kubernetes.io/pci-10de.presen", NULL, false },
	{ "not at all", 403, "no", NULL, false },
	{ "in a cause", 403, "no", "label " KEY " no", true },
	{ "longer in a cause", 403, "no", "label " KEY ".x no", false },
	{ "value in a cause of a 422", 422, "no", "Invalid value: \"true\": must be", true },
	{ "value in a cause of a 403", 403, "no", "Invalid value: \"true\": must be", false },
	{ "value without quotes", 422, "no", "Invalid value: true", false },
	{ "value in the text", 422, "Invalid value: \"true\"", NULL, false },
	{ "other value", 422, "no", "Invalid value: \"xtrue\"", false },
	{ "bytes over 127 around it", 403, "\xc3\xa4" KEY "\xc3\xa4", NULL, true },
};

static void names_keys(void **state)
{
	const __typeof__(word_rows[0]) *row = *state;
	cleanup_api_error struct nfd_api_error err = { 0 };
	cJSON *labels = json_new("{'" KEY "':'true','feature.node.kubernetes.io/0302_pci-10de."
				 "present':'false','':'','e/e':''}");
	cJSON *list = json_new("[]");
	const cJSON *entry;
	bool named = false;

	nfd_error_set(&err.error, -EACCES, "%s", row->text);
	err.status = row->status;
	if (row->cause) {
		err.details = cJSON_CreateObject();
		cJSON_AddItemToArray(cJSON_AddArrayToObject(err.details, "causes"),
				     cJSON_CreateObject());
		cJSON_AddStringToObject(cJSON_GetArrayItem(cJSON_GetObjectItem(err.details,
									       "causes"),
							   0),
					"message", row->cause);
	}
	assert_int_equal(nfd_api_error_named_keys(&err, labels, list), row->named);
	cJSON_ArrayForEach(entry, list) {
		assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(entry, "key")), KEY);
		assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(entry, "message")),
				    row->text);
		named = true;
	}
	assert_int_equal(named, row->named);
}

static void done_of_zeroed_is_fine(void **state)
{
	struct nfd_api_error err = { 0 };

	(void)state;
	nfd_api_error_done(&err);
	nfd_api_error_status(&err, 409, "x", "{\"details\":{}}");
	nfd_api_error_done(&err);
	assert_null(err.details);
	assert_int_equal(err.status, 0);
}

int main(void)
{
	struct unit_suite suite = { .name = "api_error" };

	UNIT_ROWS(&suite, takes_a_status, rows, name);
	UNIT_ROWS(&suite, message_is_one_line, hostile_rows, name);
	UNIT_CASE(&suite, long_texts_are_cut);
	UNIT_ROWS(&suite, is_an_object, object_rows, name);
	UNIT_CASE(&suite, refusal_is_an_object);
	UNIT_ROWS(&suite, tells_type_from_object, type_rows, name);
	UNIT_ROWS(&suite, finds_conflicts, conflict_rows, name);
	UNIT_CASE(&suite, no_details_is_no_conflict);
	UNIT_ROWS(&suite, names_keys, word_rows, name);
	UNIT_CASE(&suite, done_of_zeroed_is_fine);
	return unit_run(&suite);
}
