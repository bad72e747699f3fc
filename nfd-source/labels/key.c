// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Label grammar. The allowed bytes are a short fixed list; nothing here knows forbidden ones.
 */
#include "config.h"

#include "labels/key.h"

#include <errno.h>
#include <string.h>

static bool is_lower_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
	return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z');
}

static bool is_inner(char c)
{
	return is_alnum(c) || c == '-' || c == '_' || c == '.';
}

/* Letters and digits at both ends, also '-', '_' and '.' between. */
static bool is_qualified(const char *text, size_t len)
{
	if (len == 0 || !is_alnum(text[0]) || !is_alnum(text[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_inner(text[i]))
			return false;
	return true;
}

/* DNS subdomain: parts of lower-case letters, digits and inner '-', joined by dots. */
static bool is_subdomain(const char *text, size_t len)
{
	char before = '.';

	if (len == 0 || len > NFD_LABEL_PREFIX_MAX)
		return false;
	for (size_t i = 0; i <= len; i++) {
		char c = i < len ? text[i] : '.';

		if (c == '.' ? !is_lower_or_digit(before) : c == '-' ? before == '.' : false)
			return false;
		if (c != '.' && c != '-' && !is_lower_or_digit(c))
			return false;
		before = c;
	}
	return true;
}

int nfd_label_key_check(const char *key, struct nfd_error *err)
{
	const char *slash = strchr(key, '/');
	size_t name_len;

	if (!slash)
		return nfd_error_set(
			err, -EINVAL,
			"label key \"%.300s\" has no prefix: write it in full, such as "
			"\"" NFD_FEATURE_PREFIX "pci-10de.present\"",
			key);
	if (!is_subdomain(key, (size_t)(slash - key)))
		return nfd_error_set(
			err, -EINVAL,
			"label key \"%.300s\": the part before '/' must be a lower-case "
			"DNS name of at most %d bytes",
			key, NFD_LABEL_PREFIX_MAX);
	name_len = strlen(slash + 1);
	if (name_len > NFD_LABEL_NAME_MAX)
		return nfd_error_set(
			err, -EINVAL,
			"label key \"%.300s\": the part after '/' has %zu bytes, %d are "
			"allowed",
			key, name_len, NFD_LABEL_NAME_MAX);
	if (!is_qualified(slash + 1, name_len))
		return nfd_error_set(err, -EINVAL,
				     "label key \"%.300s\": the part after '/' must begin and end "
				     "with a letter or digit, with only letters, digits, '-', '_' "
				     "and '.' between",
				     key);
	return 0;
}

bool nfd_label_key_matches(const char *pattern, const char *key)
{
	size_t len = strlen(pattern);

	if (len > 0 && pattern[len - 1] == '*')
		return strncmp(key, pattern, len - 1) == 0;
	return strcmp(key, pattern) == 0;
}

/* Whether the first @len bytes of @key are a domain or one below it. */
static bool is_within(const char *key, size_t len, const char *domain)
{
	size_t domain_len = strlen(domain);

	return len >= domain_len && memcmp(key + len - domain_len, domain, domain_len) == 0 &&
	       (len == domain_len || key[len - domain_len - 1] == '.');
}

bool nfd_label_key_is_reserved(const char *key)
{
	size_t len = strcspn(key, "/");

	return is_within(key, len, "kubernetes.io") &&
	       !is_within(key, len, "feature.node.kubernetes.io") &&
	       !is_within(key, len, "profile.node.kubernetes.io");
}

bool nfd_label_value_is_valid(const char *value)
{
	size_t len = strlen(value);

	return len == 0 || (len <= NFD_LABEL_VALUE_MAX && is_qualified(value, len));
}

/* Cuts to @max bytes and trims the end to a letter or digit. Returns the new length. */
static size_t cut(char *value, size_t len, size_t max)
{
	if (len > max)
		len = max;
	while (len > 0 && !is_alnum(value[len - 1]))
		len--;
	value[len] = '\0';
	return len;
}

static size_t from_name(const char *name, char *ret, size_t max)
{
	size_t len = 0;
	bool gap = false;

	for (; *name; name++) {
		if (strchr(" \t\n\r\v\f", *name)) {
			gap = true;
			continue;
		}
		if (!is_inner(*name) || (len == 0 && !is_alnum(*name)))
			continue;
		if (gap && len > 0 && len < NFD_LABEL_VALUE_MAX)
			ret[len++] = '-';
		gap = false;
		if (len < NFD_LABEL_VALUE_MAX)
			ret[len++] = *name;
	}
	return cut(ret, len, max);
}

size_t nfd_label_value_from_name(const char *name, char ret[NFD_LABEL_VALUE_SIZE])
{
	return from_name(name, ret, NFD_LABEL_VALUE_MAX);
}

size_t nfd_label_value_with_suffix(const char *name, const char *suffix,
				   char ret[NFD_LABEL_VALUE_SIZE])
{
	size_t suffix_len = strlen(suffix);
	size_t len;

	if (suffix_len >= NFD_LABEL_VALUE_MAX)
		return from_name(name, ret, NFD_LABEL_VALUE_MAX);
	len = from_name(name, ret, NFD_LABEL_VALUE_MAX - suffix_len);
	if (len == 0)
		return 0;
	memcpy(ret + len, suffix, suffix_len + 1);
	return cut(ret, len + suffix_len, NFD_LABEL_VALUE_MAX);
}

size_t nfd_label_value_from_version(const char *text, char ret[NFD_LABEL_VALUE_SIZE])
{
	size_t len = 0;

	for (; *text && len < NFD_LABEL_VALUE_MAX; text++) {
		char c = is_inner(*text) ? *text : '_';

		if (len > 0 || is_alnum(c))
			ret[len++] = c;
	}
	return cut(ret, len, NFD_LABEL_VALUE_MAX);
}

size_t nfd_label_text_join_illegal(const char *text, char *ret, size_t size)
{
	bool in_run = false;
	size_t len = 0;

	for (; *text && len + 1 < size; text++) {
		if (is_inner(*text))
			ret[len++] = *text;
		else if (!in_run)
			ret[len++] = '_';
		in_run = !is_inner(*text);
	}
	ret[len] = '\0';
	return len;
}
