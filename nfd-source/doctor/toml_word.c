// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What TOML writes without quotes. Numbers become doubles; what a double cannot say stays text.
 */
#include "config.h"

#include "doctor/toml_word.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

/* Length of digits with single underscores between them; 0 for none. */
static size_t digits_length(const char *text, const char *digits)
{
	size_t len = strspn(text, digits);

	while (len > 0 && text[len] == '_' && text[len + 1] && strchr(digits, text[len + 1]))
		len += 1 + strspn(text + len + 1, digits);
	return len;
}

/* 0x, 0o and 0b; NULL for another number. */
static const char *digits_of(const char *text, int *ret_base)
{
	static const struct {
		const char *start, *digits;
		int base;
	} bases[] = {
		{ "0x", "0123456789abcdefABCDEF", 16 },
		{ "0o", "01234567", 8 },
		{ "0b", "01", 2 },
	};

	for (size_t i = 0; i < NFD_ARRAY_SIZE(bases); i++)
		if (strncmp(text, bases[i].start, 2) == 0) {
			*ret_base = bases[i].base;
			return bases[i].digits;
		}
	return NULL;
}

/* Whether a text is a decimal number as TOML writes it. */
static bool is_decimal(const char *text)
{
	static const char digits[] = "0123456789";
	size_t len;

	text += *text == '+' || *text == '-';
	len = digits_length(text, digits);
	if (len == 0 || (len > 1 && text[0] == '0'))
		return false;
	text += len;
	if (*text == '.') {
		len = digits_length(text + 1, digits);
		if (len == 0)
			return false;
		text += 1 + len;
	}
	if (*text == 'e' || *text == 'E') {
		text += text[1] == '+' || text[1] == '-' ? 2 : 1;
		len = digits_length(text, digits);
		if (len == 0)
			return false;
		text += len;
	}
	return *text == '\0';
}

/* Whether a text begins as @form does, in which "0" stands for any digit; moves behind it. */
static bool take_form(const char **text, const char *form)
{
	size_t i;

	for (i = 0; form[i]; i++)
		if (form[i] == '0' ? !isdigit((unsigned char)(*text)[i]) : (*text)[i] != form[i])
			return false;
	*text += i;
	return true;
}

/* A date, a time, or both. */
static bool is_time(const char *text)
{
	bool has_date = take_form(&text, "0000-00-00");

	if (has_date && !*text)
		return true;
	if (has_date && !strchr("Tt ", *text++))
		return false;
	if (!take_form(&text, "00:00:00"))
		return false;
	if (take_form(&text, ".0"))
		text += strspn(text, "0123456789");
	if (!has_date || !*text)
		return *text == '\0';
	if (*text == 'Z' || *text == 'z')
		return text[1] == '\0';
	return (take_form(&text, "+00:00") || take_form(&text, "-00:00")) && !*text;
}

/* A number of text that is one. */
static cJSON *new_number(const char *text)
{
	char plain[NFD_TOML_WORD_SIZE];
	size_t used = 0;
	int base = 10;
	bool has_base = digits_of(text, &base) != NULL;

	for (text += has_base ? 2 : 0; *text; text++)
		if (*text != '_')
			plain[used++] = *text;
	plain[used] = '\0';
	return cJSON_CreateNumber(has_base ? (double)strtoull(plain, NULL, base) :
					     strtod(plain, NULL));
}

size_t nfd_toml_word_length(const char *text)
{
	static const char ends[] = " \t,]}#\r\n";
	const char *after = text;

	/* A blank between date and time belongs to them. */
	if (take_form(&after, "0000-00-00 00:"))
		return 11 + strcspn(text + 11, ends);
	return strcspn(text, ends);
}

int nfd_toml_word(const char *text, cJSON **ret)
{
	const char *unsigned_text = text + (text[0] == '+' || text[0] == '-');
	int base;
	const char *digits = digits_of(text, &base);

	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		*ret = cJSON_CreateBool(text[0] == 't');
	else if (digits ? text[2] && digits_length(text + 2, digits) == strlen(text + 2) :
			  is_decimal(text))
		*ret = new_number(text);
	else if (is_time(text) || strcmp(unsigned_text, "inf") == 0 ||
		 strcmp(unsigned_text, "nan") == 0)
		*ret = cJSON_CreateString(text);
	else
		return -EINVAL;
	return *ret ? 0 : -ENOMEM;
}
