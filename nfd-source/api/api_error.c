// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statuses of the API server are hostile text: bounded, and only known fields are used.
 */
#include "config.h"

#include "api/api_error.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

static const char *const kinds[] = {
	[NFD_API_REQUEST] = "request", [NFD_API_CREDENTIALS] = "credentials",
	[NFD_API_CONNECT] = "connect", [NFD_API_TLS] = "tls",
	[NFD_API_REPLY] = "reply",     [NFD_API_REFUSED] = "refused",
};

#define LABEL_FIELD ".metadata.labels."

void nfd_api_error_done(struct nfd_api_error *err)
{
	cJSON_Delete(err->details);
	*err = (struct nfd_api_error){ 0 };
}

/* A message is one line, whatever a server, a proxy or a variable had in it. */
static void make_line(char *text)
{
	size_t len = strlen(text);

	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	while (len > 0 && text[len - 1] == ' ')
		text[--len] = '\0';
}

int nfd_api_error_set(struct nfd_api_error *err, enum nfd_api_kind kind, int code, const char *fmt,
		      ...)
{
	char text[sizeof(err->error.text)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	make_line(text);
	nfd_api_error_done(err);
	err->kind = kind;
	return nfd_error_set(&err->error, code, "%s", text);
}

static int code_of(int status)
{
	static const struct {
		int status, code;
	} codes[] = {
		{ 400, -EINVAL }, { 401, -EACCES }, { 403, -EACCES }, { 404, -ENOENT },
		{ 409, -EEXIST }, { 422, -EINVAL }, { 429, -EAGAIN },
	};

	for (size_t i = 0; i < NFD_ARRAY_SIZE(codes); i++)
		if (codes[i].status == status)
			return codes[i].code;
	return status >= 500 ? -EAGAIN : -EREMOTEIO;
}

int nfd_api_error_status(struct nfd_api_error *err, int status, const char *tried, const char *body)
{
	cJSON *object = cJSON_Parse(body);
	const char *message = cJSON_GetStringValue(nfd_json_get(object, "message"));
	const char *reason = cJSON_GetStringValue(nfd_json_get(object, "reason"));
	int code;

	code = nfd_api_error_set(err, NFD_API_REFUSED, code_of(status), "%s: %d: %.400s", tried,
				 status, message ? message : body);
	err->status = status;
	snprintf(err->reason, sizeof(err->reason), "%s", reason ? reason : "");
	err->details = cJSON_DetachItemFromObjectCaseSensitive(object, "details");
	cJSON_Delete(object);
	return code;
}

bool nfd_api_error_is_missing_type(const struct nfd_api_error *err)
{
	return err->status == 404 && !cJSON_IsString(nfd_json_get(err->details, "name"));
}

/* Adds {"key","message"}; a key that is there already is not added again. 1, 0 or -ENOMEM. */
static int add_key(cJSON *list, const char *key, const char *message)
{
	const cJSON *other;
	cJSON *entry;
	char text[400];

	cJSON_ArrayForEach(other, list)
		if (strcmp(cJSON_GetStringValue(nfd_json_get(other, "key")), key) == 0)
			return 0;
	snprintf(text, sizeof(text), "%s", message);
	entry = cJSON_CreateObject();
	if (!entry || !cJSON_AddStringToObject(entry, "key", key) ||
	    !cJSON_AddStringToObject(entry, "message", text) ||
	    !cJSON_AddItemToArray(list, entry)) {
		cJSON_Delete(entry);
		return -ENOMEM;
	}
	return 1;
}

int nfd_api_error_conflicts(const struct nfd_api_error *err, cJSON *list)
{
	const cJSON *causes = nfd_json_get(err->details, "causes");
	const cJSON *cause;
	int count = 0;

	cJSON_ArrayForEach(cause, causes) {
		const char *field = cJSON_GetStringValue(nfd_json_get(cause, "field"));
		const char *message = cJSON_GetStringValue(nfd_json_get(cause, "message"));
		int r;

		if (!field || strncmp(field, LABEL_FIELD, strlen(LABEL_FIELD)) != 0)
			continue;
		r = add_key(list, field + strlen(LABEL_FIELD), message ? message : "");
		if (r < 0)
			return r;
		count += r;
	}
	return count;
}

/* Whether @text has @word with no further byte of a label key around it. */
static bool has_word(const char *text, const char *word)
{
	static const char more[] = "-_./";
	const char *at = text;
	size_t len = strlen(word);

	while (len && (at = strstr(at, word)) != NULL) {
		char before = at > text ? at[-1] : ' ';
		const char *end = at + len;

		/* A full stop may end a sentence. */
		if (*end == '.' && !isalnum((unsigned char)end[1]))
			end++;
		if (!isalnum((unsigned char)before) && !strchr(more, before) &&
		    (!*end || (!isalnum((unsigned char)*end) && !strchr(more, *end))))
			return true;
		at++;
	}
	return false;
}

/* A 422 states the value that it does not take, in its causes. */
static bool names_value(const struct nfd_api_error *err, const char *text, const cJSON *label)
{
	char quoted[96];

	snprintf(quoted, sizeof(quoted), "\"%s\"", cJSON_GetStringValue(label));
	return err->status == 422 && quoted[1] != '"' && strstr(text, quoted);
}

static bool causes_name(const struct nfd_api_error *err, const cJSON *label)
{
	const cJSON *causes = nfd_json_get(err->details, "causes");
	const cJSON *cause;

	cJSON_ArrayForEach(cause, causes) {
		const char *text = nfd_json_text(cause, "message");

		if (has_word(text, label->string) || names_value(err, text, label) ||
		    has_word(nfd_json_text(cause, "field"), label->string))
			return true;
	}
	return false;
}

int nfd_api_error_named_keys(const struct nfd_api_error *err, const cJSON *labels, cJSON *list)
{
	const char *text = nfd_error_text(&err->error);
	const cJSON *label;
	int count = 0;

	cJSON_ArrayForEach(label, labels) {
		bool named = has_word(text, label->string) || causes_name(err, label);
		int r = named ? add_key(list, label->string, text) : 0;

		if (r < 0)
			return r;
		count += r;
	}
	return count;
}

/* What can heal without anybody's doing. */
static bool is_soon(const struct nfd_api_error *err)
{
	if (err->kind == NFD_API_REFUSED)
		return err->status == 409 || err->status == 429 || err->status >= 500;
	return err->kind == NFD_API_CONNECT || err->kind == NFD_API_REPLY;
}

cJSON *nfd_api_error_object(const struct nfd_api_error *err)
{
	cJSON *object = cJSON_CreateObject();
	bool ok = object && cJSON_AddStringToObject(object, "kind", kinds[err->kind]) &&
		  cJSON_AddStringToObject(object, "message", nfd_error_text(&err->error)) &&
		  cJSON_AddStringToObject(object, "retry", is_soon(err) ? "soon" : "slow");

	if (ok && err->status)
		ok = cJSON_AddNumberToObject(object, "status", err->status) &&
		     cJSON_AddStringToObject(object, "reason", err->reason);
	if (ok && err->retry_after_ms)
		ok = cJSON_AddNumberToObject(object, "retryAfterMilliseconds",
					     (double)err->retry_after_ms);
	if (!ok) {
		cJSON_Delete(object);
		return NULL;
	}
	return object;
}
