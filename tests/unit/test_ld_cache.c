// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * scan/ld_cache: every size and offset of the file is hostile.
 */
#include "config.h"

#include "scan/ld_cache.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/ld_cache_blob.h"
#include "tests/unit/unit.h"

#define NAME "libnvidia-ml.so"

static const struct ld_cache_entry entries[] = {
	{ "libc.so.6", "/lib/libc.so.6", LD_CACHE_X86_64 },
	{ NAME ".1", "/usr/lib64/" NAME ".1", LD_CACHE_X86_64 },
	{ NAME ".1", "/usr/lib32/" NAME ".1", LD_CACHE_I386 },
	{ NAME ".1", "/usr/lib/aarch64-linux-gnu/" NAME ".1", LD_CACHE_AARCH64 },
	{ 0 },
};

static void visit(void *cookie, const char *path)
{
	const char **text = cookie;

	*text = unit_text("%s%s ", *text, path);
}

/* What is found in exactly @size bytes: behind them is no byte that could be read by mistake. */
static int find(const char *data, size_t size, const char **ret_text)
{
	char *exact = malloc(size ? size : 1);
	int found;

	assert_non_null(exact);
	memcpy(exact, data, size);
	*ret_text = "";
	found = nfd_ld_cache_find(exact, size, NAME, visit, ret_text);
	free(exact);
	return found;
}

static const struct {
	const char *name;
	int old_entries;
} form_rows[] = {
	{ "new form", -1 },
	{ "old table without entries", 0 },
	{ "old table, padded", 1 },
	{ "old table, not padded", 2 },
};

static void finds_64_bit_libraries(void **state)
{
	const __typeof__(form_rows[0]) *row = *state;
	const char *text;
	size_t size;
	char *data = ld_cache_blob(entries, row->old_entries, &size);

	assert_int_equal(find(data, size, &text), 2);
	assert_string_equal(text, "/usr/lib64/" NAME ".1 /usr/lib/aarch64-linux-gnu/" NAME ".1 ");
}

/* Each length up to the whole: no read behind the end, and strings that are cut do not count. */
static void survives_every_length(void **state)
{
	const __typeof__(form_rows[0]) *row = *state;
	const char *text;
	size_t size;
	char *data = ld_cache_blob(entries, row->old_entries, &size);

	for (size_t cut = 0; cut < size; cut++)
		assert_true(find(data, cut, &text) < 2);
}

static const struct {
	const char *name;
	size_t at;
	uint32_t value;
	int found;
} broken_rows[] = {
	{ "magic", 0, 0, -EBADMSG },
	{ "magic's end", 16, 0, -EBADMSG },
	{ "count zero", 20, 0, 0 },
	{ "count less", 20, 1, 0 },
	{ "count one more than there is room for", 20, 1000, -EBADMSG },
	{ "count huge", 20, UINT32_MAX, -EBADMSG },
	{ "count that overflows", 20, UINT32_MAX / 24 + 2, -EBADMSG },
	{ "name offset at the end", 48 + 24 + 4, 1000000, 1 },
	{ "name offset huge", 48 + 24 + 4, UINT32_MAX, 1 },
	{ "path offset huge", 48 + 24 + 8, UINT32_MAX, 1 },
	{ "name offset zero", 48 + 24 + 4, 0, 1 },
	{ "flags of another machine", 48 + 24, 0x0503, 1 },
};

static void checks_fields(void **state)
{
	const __typeof__(broken_rows[0]) *row = *state;
	const char *text;
	size_t size;
	char *data = ld_cache_blob(entries, -1, &size);

	memcpy(data + row->at, &row->value, sizeof(row->value));
	assert_int_equal(find(data, size, &text), row->found);
}

static void old_count_is_checked(void **state)
{
	static const uint32_t counts[] = { 3, 1000, UINT32_MAX, UINT32_MAX / 12 + 1 };
	const char *text;
	size_t size;
	char *data = ld_cache_blob(entries, 1, &size);

	(void)state;
	for (size_t i = 0; i < NFD_ARRAY_SIZE(counts); i++) {
		memcpy(data + 12, &counts[i], sizeof(counts[i]));
		assert_int_equal(find(data, size, &text), -EBADMSG);
	}
}

static void other_files(void **state)
{
	const char *text;

	(void)state;
	assert_int_equal(find("", 0, &text), -EBADMSG);
	assert_int_equal(find("ld.so-1.7.0", 12, &text), -EBADMSG);
	assert_int_equal(find(unit_repeat('\xff', 4096), 4096, &text), -EBADMSG);
}

int main(void)
{
	struct unit_suite suite = { .name = "ld_cache" };

	UNIT_ROWS(&suite, finds_64_bit_libraries, form_rows, name);
	UNIT_ROWS(&suite, survives_every_length, form_rows, name);
	UNIT_ROWS(&suite, checks_fields, broken_rows, name);
	UNIT_CASE(&suite, old_count_is_checked);
	UNIT_CASE(&suite, other_files);
	return unit_run(&suite);
}
